/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LIVE_H
#define CALLTRAP_LIVE_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Live blocks by handle. There may be hundreds of millions, so a block takes
 * 27 bytes and the table is filled to fifteen sixteenths. It is cut into parts
 * that grow one at a time and by a quarter, because the traced program waits
 * meanwhile.
 *
 * Fifteen slots are a group, which has a byte of each block's hash, and says how
 * many passed it as it was full: a search goes on to the next group where some
 * have. All groups' bytes stay in a processor's caches far longer than blocks do:
 * who looks for one waits for that block's memory alone, and who adds one for none.
 *
 * Most blocks don't live for long. So each is put among the young first, of which
 * there is one in each place, and goes on to its part when another one comes there:
 * by a place of those that leave, where it waits for its part's memory to come near.
 */
#define LIVE_PARTS   64
#define LIVE_YOUNG   1024
#define LIVE_LEAVING 64

#define LIVE_SIZE_BITS  47
#define LIVE_BIRTH_BITS 44
#define LIVE_RATE_BITS  5

struct live_block {
	uint64_t handle;
	uint64_t size : LIVE_SIZE_BITS; /* shared: how often it was acquired */
	uint64_t birth
	    : LIVE_BIRTH_BITS; /* since watching began, in 1024 ns: 200 days */
	uint64_t rate : LIVE_RATE_BITS; /* of sampling, when it was acquired */
	uint32_t site;                  /* 0: the slot is empty */
	uint16_t thread;
} __attribute__((packed));

_Static_assert(sizeof(struct live_block) == 26, "as it says");

#define LIVE_GROUP 15

struct live_group {
	uint8_t tags[LIVE_GROUP]; /* 0: the slot is empty */
	uint8_t passed;           /* so many, or UINT8_MAX: that or more */
};

struct live_part {
	struct live_block *slots;
	struct live_group *groups; /* not of the last two */
	uint32_t room; /* slots: whole groups, where there are any */
	uint32_t used;
};

struct live {
	struct live_part parts[LIVE_PARTS + 2]; /* the last two: the young, and
						   those that leave these */
	size_t count;
};

void live_fini(struct live *live);

/* Adds a block. None of its handle may be there. */
void live_add(struct live *live, const struct live_block *block);

/* Good until the table changes; or NULL. */
struct live_block *live_find(const struct live *live, uint64_t handle);

/* It will be looked for soon: memory is slow to tell where it is. */
void live_expect(const struct live *live, uint64_t handle);

/* Takes a block out of the table; false if there is none. */
bool live_remove(struct live *live, uint64_t handle, struct live_block *ret);

size_t live_bytes(const struct live *live);

#endif
