/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HISTORY_H
#define CALLTRAP_HISTORY_H

#include <stdbool.h>

#include "base/types.h"

/*
 * How blocks and bytes have changed since watching began, in bounded memory:
 * time is cut into intervals of equal length, for each of which the least
 * that was outstanding is kept. When there are too many, two become one. Low
 * water tells a leak from a queue: a queue runs empty now and then.
 */
#define HISTORY_POINTS 32

struct history_point {
	float low_blocks, low_bytes;
};

struct history_state {
	uint64_t blocks, bytes;
};

struct history {
	struct history_point *points; /* NULL until there is more to say than
					 first and last */
	uint64_t interval;            /* nanoseconds */
	uint16_t count;               /* intervals that have begun */
	uint16_t room;                /* for so many */
	struct history_state last;    /* since the last change */
};

void history_fini(struct history *history);
size_t history_bytes(const struct history *history);

/* Makes intervals up to and with that of the time. */
void history_go_on(struct history *history, uint64_t since);

/* At a time (since watching began) the numbers become these. */
static inline void history_change(struct history *history, uint64_t since,
				  struct history_state state)
{
	struct history_point *point;

	/* Hardly ever: else it is the last interval's, and needs no division. */
	if (since >= history->count * history->interval)
		history_go_on(history, since);
	point = &history->points[history->count - 1];
	/*
	 * What was there last was no lower than the lowest. The new state is
	 * kept by halves: as a whole it would go by memory, and the processor
	 * waits for what it reads at once wider than it was written.
	 */
	if (state.blocks < history->last.blocks &&
	    (float)state.blocks < point->low_blocks)
		point->low_blocks = state.blocks;
	history->last.blocks = state.blocks;
	if (state.bytes < history->last.bytes &&
	    (float)state.bytes < point->low_bytes)
		point->low_bytes = state.bytes;
	history->last.bytes = state.bytes;
}

/*
 * The points up to now; unchanged intervals are filled in. Returns how many
 * there are, at most HISTORY_POINTS; *interval_ret is their distance. The last
 * one may not have ended.
 */
unsigned history_points(const struct history *history, uint64_t since,
			struct history_point *ret, uint64_t *interval_ret);

#endif
