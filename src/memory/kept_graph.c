/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/kept_graph.h"

#include <stdlib.h>

#include "base/xalloc.h"

void kept_graph_add_root(struct kept_graph *graph, const struct kept_root *root)
{
	graph->roots = xgrow(graph->roots, graph->root_count, &graph->root_room,
			     sizeof(*graph->roots));
	graph->roots[graph->root_count++] = *root;
}

void kept_graph_add_pointer(struct kept_graph *graph,
			    const struct kept_pointer *pointer)
{
	graph->pointers = xgrow(graph->pointers, graph->pointer_count,
				&graph->pointer_room, sizeof(*graph->pointers));
	graph->pointers[graph->pointer_count++] = *pointer;
}

/* Most processes have neither huge pages nor anything in swap. */
void kept_graph_add_pages(struct kept_graph *graph, size_t block,
			  const struct page_sums *pages)
{
	graph->resident = xgrow(graph->resident, block, &graph->resident_room,
				sizeof(*graph->resident));
	graph->resident[block] = pages->resident;
	if (!pages->huge && !pages->swapped)
		return;
	while (graph->page_count <= block) {
		graph->pages = xgrow(graph->pages, graph->page_count,
				     &graph->page_room, sizeof(*graph->pages));
		graph->pages[graph->page_count] = (struct page_sums){
			.resident = graph->resident[graph->page_count]
		};
		graph->page_count++;
	}
	graph->pages[block] = *pages;
}

struct page_sums kept_graph_pages(const struct kept_graph *graph, size_t block)
{
	return block < graph->page_count ?
		       graph->pages[block] :
		       (struct page_sums){ .resident = graph->resident[block] };
}

void kept_graph_walk(const struct kept_graph *graph,
		     const struct blocks *blocks, graph_found *found,
		     void *context)
{
	for (size_t i = 0; i < graph->root_count; i++) {
		const struct kept_root *root = &graph->roots[i];

		found(context, &(struct pointer){
				       .where = root->where,
				       .to = &blocks->list[root->to],
				       .kind = root->kind,
			       });
	}
	for (size_t i = 0; i < graph->pointer_count; i++) {
		const struct kept_pointer *pointer = &graph->pointers[i];
		const struct block *from = &blocks->list[pointer->from];

		found(context, &(struct pointer){
				       .from = from,
				       .where = from->address + pointer->offset,
				       .to = &blocks->list[pointer->to],
				       .kind = pointer->kind,
			       });
	}
}

void kept_graph_free(struct kept_graph *graph)
{
	if (!graph)
		return;
	free(graph->roots);
	free(graph->pointers);
	free(graph->resident);
	free(graph->pages);
	free(graph);
}
