/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FUZZ_CHECK_LEAKS_H
#define CALLTRAP_FUZZ_CHECK_LEAKS_H

#include <stdio.h>

#include "memory/held.h"
#include "memory/holders.h"

/* What is asked of blocks of which it is known what is reached. */

/* Each has one verdict. */
static inline void check_holders(const struct leaks *leaks)
{
	const struct blocks *blocks = &leaks->glibc.blocks;
	struct block_names *names = block_names_new(leaks);
	struct owners owners;
	uint64_t counted = 0;

	owners_find(leaks, &owners);

	for (size_t i = 0; i < REACH_KINDS; i++)
		counted += leaks->reach.totals[i].blocks;
	for (size_t i = 0; i < blocks->count; i++) {
		char whose[32];
		struct holders holders;

		if (blocks->list[i].state != BLOCK_USED || blocks->list[i].own)
			continue;
		counted--;
		snprintf(whose, sizeof(whose), "0x%llx",
			 (unsigned long long)blocks->list[i].address);
		if (i % 16 == 0 &&
		    !holders_find(leaks, names, &owners, whose, &holders))
			holders_fini(&holders);
	}
	owners_fini(&owners);
	block_names_free(names);
	if (counted)
		__builtin_trap();
}

/* All that is reached is somewhere in the tree, once. */
static inline void check_held(const struct leaks *leaks)
{
	const struct reach_total *all = &leaks->reach.totals[REACH_REACHED];
	struct block_names *names = block_names_new(leaks);
	struct held_tree tree;

	if (held_find(leaks, names, &tree) || !tree.count ||
	    tree.list[0].all_blocks != all->blocks ||
	    tree.list[0].all_bytes != all->bytes)
		__builtin_trap();
	for (size_t i = 1; i < tree.count; i++)
		if (tree.list[i].above >= i)
			__builtin_trap();
	held_fini(&tree);
	block_names_free(names);
}

#endif
