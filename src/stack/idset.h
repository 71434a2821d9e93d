/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IDSET_H
#define CALLTRAP_IDSET_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Finds records by their hash, where the records themselves are in a list of
 * the caller's: 4 bytes each and open addressing, since nothing is ever taken
 * out. A number of 0 is no record.
 */
struct idset {
	uint32_t *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
};

struct idset_ops {
	bool (*equal)(const void *owner, uint32_t id, const void *key);
	uint64_t (*hash)(const void *owner, uint32_t id);
};

void idset_fini(struct idset *set);

/* The number of the equal record, or 0. */
uint32_t idset_find(const struct idset *set, const struct idset_ops *ops,
		    const void *owner, const void *key, uint64_t hash);

/* Of a record that is not in it. */
void idset_add(struct idset *set, const struct idset_ops *ops,
	       const void *owner, uint32_t id, uint64_t hash);

/* Spreads a number over 64 bits. */
static inline uint64_t idset_mix(uint64_t a)
{
	a *= UINT64_C(0x9e3779b97f4a7c15);
	a ^= a >> 32;
	a *= UINT64_C(0xd6e8feb86659fd93);
	return a ^ a >> 29;
}

#endif
