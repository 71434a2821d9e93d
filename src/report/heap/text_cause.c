/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"
#include "report/heap/text.h"

/*
 * Whether a stack that makes the process grow is a leak, or was only the one
 * that came when there was no room left: told by what is acquired there.
 */

static bool is_one_frame(const struct frame *a, const struct frame *b)
{
	return a->code == b->code && a->address == b->address;
}

/* Whether the outer frames of a stack are another one (as far as both go). */
static bool ends_in(const struct frame *stack, size_t count,
		    const struct frame *outer, size_t outer_count)
{
	for (size_t from = 0; from < count; from++) {
		size_t i = 0;

		while (from + i < count && i < outer_count &&
		       is_one_frame(&stack[from + i], &outer[i]))
			i++;
		if (i && (from + i == count || i == outer_count))
			return true;
	}
	return false;
}

static const struct heap_row *row_behind(const struct heap_text *text,
					 const struct heap_rows *rows,
					 stack_id stack)
{
	const struct stacks *stacks = text->config->stacks;
	struct frame frames[UNWIND_DEPTH_MAX], outer[UNWIND_DEPTH_MAX];
	size_t count = stacks_frames(stacks, stack, frames, ARRAY_SIZE(frames));

	for (size_t i = 0; i < rows->count; i++) {
		const struct heap_row *row = rows->list[i];
		size_t outer_count;

		if (!row->site || !row->site->function->family->has_size)
			continue;
		outer_count = stacks_frames(stacks, row->site->stack, outer,
					    ARRAY_SIZE(outer));
		if (ends_in(frames, count, outer, outer_count))
			return row;
	}
	return NULL;
}

int heap_text_cause(const struct heap_text *text,
		    const struct growth_site *site)
{
	const struct heap_row *row =
		text->rows ? row_behind(text, text->rows, site->stack) : NULL;
	struct strbuf *out = heap_text_out(text);

	if (!row)
		return 0;
	strbuf_printf(out, "    stack %u of ", (unsigned)row->site->number);
	heap_text_function(text, row->site->function);
	if (row->blocks) {
		strbuf_printf(out, ", %s a leak: it holds ",
			      row->verdict->level == VERDICT_LIKELY ?
				      "LIKELY" :
			      row->verdict->level == VERDICT_POSSIBLE ?
				      "POSSIBLY" :
				      "NOT");
		amounts_add_held(out, row->bytes, row->blocks);
	} else {
		strbuf_puts(out, ", which holds nothing: it came when there "
				 "was no room left");
	}
	return heap_text_end_line(text);
}
