/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REACHED_H
#define CALLTRAP_REACHED_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Which of the blocks that a heap holds the process can still get at, as
 * somebody has found out who looked through all of its memory.
 */
struct site_reach {
	uint64_t blocks, bytes; /* that were looked for, and found … */
	uint64_t lost_blocks,
		lost_bytes; /* … of which nothing leads to these */
	/* What is found only by an interpreter's collector of rings, which will
	   give it back when it comes by, or is kept for new objects. */
	uint64_t listed_blocks;
	uint64_t listed_old; /* … of which so many are far older than usual */
	char *owner;         /* nothing but this variable leads to … */
	uint64_t own_bytes;  /* … so many of them; NULL: to half of them at
			       most */
};

struct heap_reach {
	struct site_reach *sites; /* by site->number - 1 */
	size_t count; /* of sites; what is newer wasn't looked for */
	struct site_reach all;
	uint64_t gone;     /* blocks that were no longer there */
	uint64_t pause_ns; /* for which the process stood still */
	bool copied;       /* … and was read from a copy afterwards */
	char *why_not;     /* nobody looked: a reason; else NULL */
};

/* NULL is allowed. */
void heap_reach_free(struct heap_reach *reach);

struct heap;
struct heap_block;
struct site;

/*
 * Whether a block that nothing leads to may be on its way to somebody, with its
 * address in a pipe, where nobody sees it: it is young, and those before it were
 * given back at no smaller age.
 */
bool heap_block_may_be_under_way(const struct heap_block *block, uint64_t now);

/* The heap takes it over, and verdicts heed it. */
void heap_set_reach(struct heap *heap, struct heap_reach *reach);

/* NULL: nobody was asked to look. */
const struct heap_reach *heap_reach(const struct heap *heap);

/* What was found of a site's blocks; NULL: none of them was looked at. */
const struct site_reach *heap_site_reach(const struct heap *heap,
					 const struct site *site);

#endif
