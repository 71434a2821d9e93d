/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/history.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* The first interval: short enough for a watch of a second. */
#define FIRST_INTERVAL 15625000 /* nanoseconds */

/* It is doubled until HISTORY_POINTS. */
#define FIRST_ROOM 4

void history_fini(struct history *history)
{
	free(history->points);
	*history = (struct history){ 0 };
}

size_t history_bytes(const struct history *history)
{
	return history->room * sizeof(*history->points);
}

static float lower(float a, float b)
{
	return a < b ? a : b;
}

static void halve(struct history_point *points, uint16_t *count)
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

/* Most sites have soon ceased to change. */
static void widen(struct history *history)
{
	history->room = history->room ? history->room * 2 : FIRST_ROOM;
	history->points = xreallocarray(history->points, history->room,
					sizeof(*history->points));
}

/* Intervals up to and with that of the time; in new ones nothing changed. */
static void advance(struct history *history, uint64_t since)
{
	struct history_state last = history->last;
	struct history_point same = { last.blocks, last.bytes };

	while (since / history->interval >= HISTORY_POINTS) {
		halve(history->points, &history->count);
		history->interval *= 2;
	}
	while (history->count <= since / history->interval) {
		if (history->count == history->room)
			widen(history);
		history->points[history->count++] = same;
	}
}

void history_go_on(struct history *history, uint64_t since)
{
	if (!history->points)
		history->interval = FIRST_INTERVAL;
	advance(history, since);
}

unsigned history_points(const struct history *history, uint64_t since,
			struct history_point *ret, uint64_t *interval_ret)
{
	struct history copy = *history;

	copy.points = ret;
	copy.room = HISTORY_POINTS;
	if (!history->points)
		copy.interval = FIRST_INTERVAL;
	for (unsigned i = 0; i < history->count; i++)
		ret[i] = history->points[i];
	advance(&copy, since);
	*interval_ret = copy.interval;
	return copy.count;
}
