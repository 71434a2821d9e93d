/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FRAME_TABLE_H
#define CALLTRAP_FRAME_TABLE_H

#include "base/strbuf.h"
#include "naming/namer.h"
#include "stack/stacks.h"

struct frame_text;

/*
 * The frames of many stacks, each kept once and numbered as they come, from 0
 * on: what files for viewers are made of.
 */
struct frame_row {
	const char *function; /* shown; see frame_text_add() */
	const char *library;  /* path as the program sees it; "" = not known */
	const char *file;     /* "" = not known */
	unsigned line;        /* 0 = not known */
	uint64_t address;     /* the file's own */
};

struct frame_table {
	struct frame_row *rows;
	size_t count, room;
	struct frame_text *keys;
};

void frame_table_fini(struct frame_table *table);

/* "function (file:line)", or "function (in library)", as valgrind's tools have
   it behind an address. */
void frame_row_add(const struct frame_row *row, struct strbuf *out);

/*
 * The numbers of a stack's frames, the outermost first and the allocator last;
 * inlined functions are frames of their own. Where the outer ones are not known
 * the first is "[...]". To be freed.
 */
uint32_t *frame_table_stack(struct frame_table *table, struct namer *namer,
			    const struct stacks *stacks, stack_id stack,
			    const char *allocator,
			    size_t *count_ret) MUST_CHECK;

#endif
