/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HELD_H
#define CALLTRAP_HELD_H

#include "memory/block_names.h"

/*
 * What is held by whom alone: a tree of variables, the pointers in them, and
 * blocks, in which all ways to what is below lead through what is above, and
 * would be gone without it. Blocks of one name (their class, or size) are one
 * node below the same one, and the same one as what is above it.
 */
struct held {
	char *name;
	size_t above;  /* index, lower than its own */
	taddr_t first; /* one of its blocks; 0: it has none */
	uint64_t blocks, bytes;
	struct page_sums pages;
	uint64_t all_blocks, all_bytes; /* with all below */
	struct page_sums all_pages;
};

struct held_tree {
	struct held *list; /* the first one stands for all that is reached */
	size_t count, room;
	bool pages_known; /* what is resident, and so on */
	bool huge_known;  /* … and what is in huge pages */
	bool curtailed;   /* names are missing (block_names.h) */
	bool simplified;  /* some blocks count with what is above them, as there
			    are too many names */
};

/*
 * What a thread holds on its stack or in a register counts only if no variable
 * leads there. -EFBIG when there are more pointers than can be counted.
 */
int held_find(const struct leaks *leaks, struct block_names *names,
	      struct held_tree *ret) MUST_CHECK;
void held_fini(struct held_tree *tree);

#endif
