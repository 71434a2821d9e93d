/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TIMELINE_H
#define CALLTRAP_TIMELINE_H

#include "base/types.h"

/*
 * What was acquired in which interval of time, and in which it was given back:
 * so that of any range of time can be told what was acquired in it and was held
 * at its end. The time since watching began is cut into at most
 * TIMELINE_INTERVALS equal intervals; when it gets longer, two become one.
 */
#define TIMELINE_INTERVALS 64
#define TIMELINE_HELD      TIMELINE_INTERVALS /* not given back yet */

/* The intervals of a heap; a zeroed one is at the beginning. */
struct timeline {
	unsigned level; /* how often two have become one */
	unsigned count; /* intervals that have begun */
};

/* Blocks of one interval that went in another one, or are held. */
struct timeline_cell {
	uint8_t acquired, gone;
	uint64_t blocks, bytes;
};

/* Those of a site, by .acquired, then by .gone. A zeroed one is empty. */
struct timeline_cells {
	struct timeline_cell *list;
	uint32_t count, room;
	unsigned level; /* of the intervals that these are of */
};

void timeline_cells_fini(struct timeline_cells *cells);
size_t timeline_cells_bytes(const struct timeline_cells *cells);

/* Nanoseconds. */
uint64_t timeline_interval(const struct timeline *timeline);

/* Times are nanoseconds since watching began. */
void timeline_advance(struct timeline *timeline, uint64_t since);
void timeline_acquired(struct timeline *timeline, struct timeline_cells *cells,
		       uint64_t since, uint64_t blocks, uint64_t bytes);

/*
 * Bytes of a block that was acquired at birth, and blocks: 0 when some of it
 * stays. (Birth may be known to 1024 ns only.)
 */
void timeline_gone(struct timeline *timeline, struct timeline_cells *cells,
		   uint64_t birth, uint64_t since, uint64_t blocks,
		   uint64_t bytes);

/* Before they are read: brings a site's cells to the heap's intervals. */
void timeline_settle(const struct timeline *timeline,
		     struct timeline_cells *cells);

#endif
