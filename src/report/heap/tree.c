/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/tree.h"

#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/flame/stack.h"
#include "report/flame/weighed.h"
#include "report/format/frame_text.h"

static void mark_leak(const struct heap_export *export, struct flame_tree *tree,
		      struct flame_node *node, const struct site *site)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	struct verdict verdict;

	tree->leaks++;
	if (node->leak)
		return;
	verdict = verdict_of(export->process->heap, site, export->survey);
	verdict_explain(&verdict, site, &why);
	node->leak = xstrdup(strbuf_text(&why));
}

static void plant(const void *context, struct flame_tree *tree,
		  const struct weighed *weighed)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const struct heap_export *export = context;
	const struct site *site = weighed->site;
	struct flame_path path = flame_path_begin(tree);
	struct flame_node *node;

	flame_stack_add(&path, export->config->namer, export->config->stacks,
			site->stack, site->function->name);
	frame_text_add_allocator(site->function->name, &name);
	flame_path_add(&path, &(struct flame_place){ strbuf_text(&name), "",
						     NULL, 0 });
	node = flame_path_weigh(&path, weighed->weight);
	if (weighed->never_dropped)
		mark_leak(export, tree, node, site);
}

struct flame_tree *heap_tree_new(const struct heap_export *export, size_t max)
{
	const struct heap *heap = export->process->heap;
	struct weighed_list list = { 0 };

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		struct weighed weighed = {
			.site = site,
			.weight = heap_export_weight(export, site),
			.number = site->number,
		};

		if (!weighed.weight)
			continue;
		weighed.never_dropped =
			verdict_of(heap, site, export->survey).level ==
			VERDICT_LIKELY;
		weighed_add(&list, &weighed);
	}
	return weighed_plant(&list, max, plant, export);
}
