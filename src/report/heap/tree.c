/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/tree.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/flame/stack.h"
#include "report/format/frame_text.h"

/* A site that is to be put into the tree. */
struct weighed {
	const struct site *site;
	uint64_t weight;
	struct verdict verdict;
};

static void mark_leak(struct flame_tree *tree, struct flame_node *node,
		      const struct weighed *weighed)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	if (weighed->verdict.level != VERDICT_LIKELY)
		return;
	tree->leaks++;
	if (node->leak)
		return;
	verdict_explain(&weighed->verdict, weighed->site, &why);
	node->leak = xstrdup(strbuf_text(&why));
}

static void plant(const struct heap_export *export, struct flame_tree *tree,
		  const struct weighed *weighed)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct flame_path path = flame_path_begin(tree);

	flame_stack_add(&path, export->config->namer, export->config->stacks,
			weighed->site->stack);
	frame_text_add_allocator(weighed->site->function->name, &name);
	flame_path_add(&path, &(struct flame_place){ strbuf_text(&name), "",
						     NULL, 0 });
	mark_leak(tree, flame_path_weigh(&path, weighed->weight), weighed);
}

static int by_importance(const void *a, const void *b)
{
	const struct weighed *left = a, *right = b;
	bool left_leaks = left->verdict.level == VERDICT_LIKELY;
	bool right_leaks = right->verdict.level == VERDICT_LIKELY;

	if (left_leaks != right_leaks)
		return left_leaks ? -1 : 1;
	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left->site->number < right->site->number ? -1 : 1;
}

static size_t weigh_sites(const struct heap_export *export,
			  struct weighed *ret)
{
	const struct heap *heap = export->process->heap;
	size_t count = 0;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		uint64_t weight = heap_export_weight(export, site);

		if (weight)
			ret[count++] = (struct weighed){
				site, weight, verdict_of(heap, site, export->survey)
			};
	}
	qsort(ret, count, sizeof(*ret), by_importance);
	return count;
}

struct flame_tree *heap_tree_new(const struct heap_export *export, size_t max)
{
	struct flame_tree *tree = flame_tree_new(max);
	struct weighed *sites CLEANUP(xfree_cleanup) =
		xcalloc(heap_site_count(export->process->heap) + 1,
			sizeof(*sites));
	size_t count = weigh_sites(export, sites);

	for (size_t i = 0; i < count; i++)
		plant(export, tree, &sites[i]);
	flame_tree_arrange(tree);
	return tree;
}
