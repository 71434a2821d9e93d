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

/* At a time (since watching began) the numbers become these. */
void history_change(struct history *history, uint64_t since,
		    struct history_state state);

/*
 * The points up to now; unchanged intervals are filled in. Returns how many
 * there are, at most HISTORY_POINTS; *interval_ret is their distance. The last
 * one may not have ended.
 */
unsigned history_points(const struct history *history, uint64_t since,
			struct history_point *ret, uint64_t *interval_ret);

#endif
