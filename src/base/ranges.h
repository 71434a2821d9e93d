/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RANGES_H
#define CALLTRAP_RANGES_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Live ranges of addresses. What was acquired at once can be given back in
 * parts, and several in one: a block is gone when none of its pieces is left.
 */
struct range_block {
	uint64_t birth; /* since watching began, in nanoseconds */
	uint64_t size;  /* as it was acquired */
	uint32_t site;
	uint16_t thread;
	uint32_t pieces;
};

struct range {
	uint64_t begin, end;
	struct range_block *block;
};

/* A row of ranges: what was cut out of those that are live. */
struct range_list {
	struct range *items;
	size_t count, room;
};

void range_list_fini(struct range_list *list); /* the blocks stay */

/* Sorted, and none overlaps another. */
struct ranges {
	struct range_list live;
	size_t blocks;
};

void ranges_fini(struct ranges *ranges);

/*
 * Cuts [begin, end) out of the live ranges. What was live there is appended to
 * *ret; its pieces still count for their blocks, until ranges_drop().
 */
void ranges_cut(struct ranges *ranges, uint64_t begin, uint64_t end,
		struct range_list *ret);

/* A new block, which is returned. Nothing may be live there. */
struct range_block *ranges_add(struct ranges *ranges, uint64_t begin,
			       uint64_t end, const struct range_block *block);

/* Puts a cut piece back, where nothing may be live. */
void ranges_put_back(struct ranges *ranges, const struct range *piece);

/* A cut piece is gone for good, and with the last one its block, which is
   freed: true. */
bool ranges_drop(struct ranges *ranges, const struct range *piece);

size_t ranges_bytes(const struct ranges *ranges);

#endif
