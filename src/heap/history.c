/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/history.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* The first interval: short enough for a watch of a second. */
#define FIRST_INTERVAL 15625000 /* nanoseconds */

void history_fini(struct history *history)
{
	free(history->points);
	*history = (struct history){ 0 };
}

static float lower(float a, float b)
{
	return a < b ? a : b;
}

static void halve(struct history_point *points, unsigned *count)
{
	unsigned half = (*count + 1) / 2;

	for (unsigned i = 0; i < half; i++) {
		struct history_point a = points[2 * i];

		points[i] = a;
		if (2 * i + 1 == *count)
			break;
		points[i] = points[2 * i + 1];
		points[i].low_blocks =
			lower(a.low_blocks, points[i].low_blocks);
		points[i].low_bytes = lower(a.low_bytes, points[i].low_bytes);
	}
	*count = half;
}

/* Intervals up to and with that of the time; in new ones nothing changed. */
static void advance(struct history *history, uint64_t since)
{
	struct history_state last = history->last;
	struct history_point same = { last.blocks, last.bytes, last.blocks,
				      last.bytes };

	while (since / history->interval >= HISTORY_POINTS) {
		halve(history->points, &history->count);
		history->interval *= 2;
	}
	while (history->count <= since / history->interval)
		history->points[history->count++] = same;
}

void history_change(struct history *history, uint64_t since,
		    struct history_state state)
{
	struct history_point *point;

	if (!history->points) {
		history->points =
			xcalloc(HISTORY_POINTS, sizeof(*history->points));
		history->interval = FIRST_INTERVAL;
	}
	advance(history, since);
	point = &history->points[history->count - 1];
	point->blocks = state.blocks;
	point->bytes = state.bytes;
	point->low_blocks = lower(point->low_blocks, state.blocks);
	point->low_bytes = lower(point->low_bytes, state.bytes);
	history->last = state;
}

unsigned history_points(const struct history *history, uint64_t since,
			struct history_point *ret, uint64_t *interval_ret)
{
	struct history copy = *history;

	copy.points = ret;
	if (!history->points)
		copy.interval = FIRST_INTERVAL;
	for (unsigned i = 0; i < history->count; i++)
		ret[i] = history->points[i];
	advance(&copy, since);
	*interval_ret = copy.interval;
	return copy.count;
}
