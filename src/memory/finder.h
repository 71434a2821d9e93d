/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FINDER_H
#define CALLTRAP_FINDER_H

#include "memory/glibc.h"

/* Finds the block in use that an address lies in, for millions of addresses. */
struct finder {
	const struct glibc *glibc;
	taddr_t low, span; /* of all blocks: others need no look */
	uint32_t **pages;  /* of each part: the first block that ends behind
				  the page's beginning */
	size_t last;       /* the part that was found last */
};

void finder_init(struct finder *finder, const struct glibc *glibc);
void finder_fini(struct finder *finder);

/* NULL when there is none: it is free, the allocator's, or no block at all. */
struct block *finder_look(struct finder *finder, taddr_t address);

static inline bool finder_may_have(const struct finder *finder, uint64_t value)
{
	return value - finder->low < finder->span;
}

#endif
