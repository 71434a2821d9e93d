/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOWS_H
#define CALLTRAP_LOWS_H

#include "heap/heap.h"
#include "heap/history.h"
#include "heap/trend.h"

#define LOWS_MIN 8 /* of a history that says something */

/*
 * The low water of a site since its first block; and how many blocks of the
 * process had come and gone by the beginning of each interval, which is how
 * much it does: time in which it does nothing says nothing.
 */
struct lows {
	double blocks[TREND_POINTS], bytes[TREND_POINTS];
	double calls[TREND_POINTS];
	double last_calls; /* at the end */
	unsigned count;
	uint64_t interval;
	uint64_t left_out; /* time in which the process could not run */
};

/* now: until when there is something to judge by. */
struct lows lows_of(const struct heap *heap, const struct site *site,
		    uint64_t now);

/* 1: numbers (.blocks, .bytes) have only risen. */
double lows_steadiness(const double *numbers, unsigned count);

/* Whether that is no gap as there were before; all in one unit. */
bool lows_are_silent(double silence, double watched, double gap);

/*
 * Whether the numbers rise no more, in time and in what the process does. Also
 * for how many nanoseconds they have not.
 */
bool lows_stopped(const struct lows *lows, const double *numbers,
		  uint64_t watched, uint64_t *silence_ret);

/*
 * What a part (0 to 1) of the time at its end added, of that what the same part at
 * the beginning did; a call of the process, if it makes fewer by now.
 */
double lows_late_share(const struct lows *lows, double part);

/*
 * Whether so few more may have come by chance: of as many in all, each belongs
 * to the one or the other part with the same chance.
 */
bool lows_may_be_chance(const struct lows *lows, double part);

#endif
