/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_TEXT_H
#define CALLTRAP_MEMORY_TEXT_H

#include "report/file/output.h"
#include "report/memory/config.h"

struct heap_rows;

/* What a part of a report is made from; it adds its lines to an output. */
struct heap_text {
	const struct heap_report_config *config;
	const struct watched *process;
	const struct heap_cost *cost;
	uint64_t now;
	struct output *output;
	const struct heap_rows *rows; /* of blocks; NULL: aren't watched */

	/* Says what is acquired at a stack of growth, if that is known: what
	   .rows have. */
	int (*add_cause)(const struct heap_text *text,
			 const struct growth_site *site);
};

static inline struct strbuf *heap_text_out(const struct heap_text *text)
{
	return &text->output->text;
}

static inline int heap_text_end_line(const struct heap_text *text)
{
	return output_end_line(text->output);
}

/*
 * A stack, a frame a line, up to main(). callee: see namer_frames(). Many frames
 * of one file that have no names are counted, unless everything is wanted
 * (--top=0).
 */
int heap_text_stack(const struct heap_text *text, stack_id stack,
		    const char *callee, const char *indent) MUST_CHECK;

/* A stack of a table. */
struct heap_text_shown {
	stack_id stack;
	const char *callee;
	unsigned number; /* of its site; 0: has none */
};

/*
 * The next stack of a table. shown: the last one that was told whole, at first
 * all 0; outer frames that stand there already are not told again (but with
 * --top=0).
 */
int heap_text_next_stack(const struct heap_text *text,
			 const struct heap_text_shown *stack,
			 const char *indent,
			 struct heap_text_shown *shown) MUST_CHECK;

#endif
