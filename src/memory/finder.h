/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FINDER_H
#define CALLTRAP_FINDER_H

#include "memory/glibc.h"

/* Which of 64 addresses, 16 bytes apart, blocks begin at; and how many of the
   part's blocks do before these. */
struct finder_word {
	uint64_t begins;
	uint32_t before;
};

/* Of each part. */
struct finder_part {
	struct finder_word *words; /* or NULL */
	bool shared; /* in 16 bytes one may end and another begin */
};

/*
 * Finds the block in use that an address lies in, for millions of addresses.
 * What is looked at for most of them should fit into the processor's caches: a
 * bit for 16 bytes tells which block it may be, and of that one it is asked.
 */
struct finder {
	const struct glibc *glibc;
	taddr_t low, span; /* of all blocks: others need no look */
	struct finder_part *parts;
	size_t last; /* the part that was found last */
};

void finder_init(struct finder *finder, const struct glibc *glibc);
void finder_fini(struct finder *finder);

/* NULL when there is none: it is free, the allocator's, or no block at all. */
struct block *finder_look(struct finder *finder, taddr_t address);

/* The one that it lies in if it lies in any; that isn't looked at yet. */
struct block *finder_guess(struct finder *finder, taddr_t address);

static inline bool finder_is_in(const struct block *block, taddr_t address)
{
	return block_is_used(block) && block_has(block, address);
}

static inline bool finder_may_have(const struct finder *finder, uint64_t value)
{
	return value - finder->low < finder->span;
}

#endif
