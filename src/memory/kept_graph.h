/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_KEPT_GRAPH_H
#define CALLTRAP_KEPT_GRAPH_H

#include "memory/blocks.h"
#include "memory/graph.h"
#include "memory/picture.h"

/* The pointers of a process of which there is no picture any more, and where the
   pages of its blocks were; these by their numbers on the list of blocks. */
struct kept_root {
	taddr_t where; /* 0: in a register */
	uint32_t to;
	uint8_t kind; /* enum pointer_kind */
};

struct kept_pointer {
	uint32_t from, to;
	uint64_t offset : 62; /* in the block that it is in */
	uint64_t kind : 2;
};

struct kept_graph {
	struct kept_root *roots;
	struct kept_pointer *pointers; /* by the block that they are in */
	uint64_t *resident;            /* bytes of each block */
	struct page_sums *pages; /* … and all, up to the last block that has
					  more than these */
	size_t root_count, root_room;
	size_t pointer_count, pointer_room;
	size_t resident_room;
	size_t page_count, page_room;
};

void kept_graph_add_root(struct kept_graph *graph,
			 const struct kept_root *root);
void kept_graph_add_pointer(struct kept_graph *graph,
			    const struct kept_pointer *pointer);

/* For each block, by their numbers. */
void kept_graph_add_pages(struct kept_graph *graph, size_t block,
			  const struct page_sums *pages);
struct page_sums kept_graph_pages(const struct kept_graph *graph, size_t block);

/* As graph_walk(). */
void kept_graph_walk(const struct kept_graph *graph,
		     const struct blocks *blocks, graph_found *found,
		     void *context);

/* NULL is fine. */
void kept_graph_free(struct kept_graph *graph);

#endif
