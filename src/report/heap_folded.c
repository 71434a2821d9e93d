/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "report/frame_text.h"
#include "report/heap_export.h"

/*
 * Folded stacks, "root;...;leaf NUMBER", as flamegraph.pl, speedscope and
 * inferno read them. Only the last blank of a line splits, so names keep
 * theirs; a semicolon in a name would split frames, so it becomes a comma.
 */

static void replace_semicolons(struct strbuf *out, size_t start)
{
	for (size_t i = start; i < out->length; i++)
		if (out->text[i] == ';')
			out->text[i] = ',';
}

static void add_frame(const struct frame *frame, const struct frame_name *name,
		      struct strbuf *out)
{
	size_t start = out->length;

	frame_text_add(frame, name, out);
	replace_semicolons(out, start);
	strbuf_putc(out, ';');
}

static void add_allocator(const struct site *site, struct strbuf *out)
{
	size_t start = out->length;

	frame_text_add_allocator(site->function->name, out);
	replace_semicolons(out, start);
}

static void add_stack(const struct heap_export *export, stack_id stack,
		      struct strbuf *out)
{
	const struct stacks *stacks = export->config->stacks;
	size_t depth = stacks_depth(stacks, stack);
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(depth + 1, sizeof(*frames));

	depth = stacks_frames(stacks, stack, frames, depth);
	if (stacks_end(stacks, stack) != STACK_COMPLETE)
		strbuf_puts(out, "[...];");
	while (depth--) {
		const struct frame_name *names;
		size_t count = namer_names(export->config->namer,
					   &frames[depth], &names);

		while (count--)
			add_frame(&frames[depth], &names[count], out);
	}
}

void heap_folded_make(const struct heap_export *export, struct strbuf *out)
{
	const struct heap *heap = export->process->heap;

	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);
		uint64_t weight = heap_export_weight(export, site);

		if (!weight || !site->function->family->has_size)
			continue;
		add_stack(export, site->stack, out);
		add_allocator(site, out);
		strbuf_printf(out, " %" PRIu64 "\n", weight);
	}
}
