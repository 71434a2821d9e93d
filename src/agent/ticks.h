/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TICKS_H
#define CALLTRAP_TICKS_H

#include <stdbool.h>

#include "base/types.h"

/*
 * The processor's time stamp counter, by which the agent tells the time, and
 * what that is on the monotonic clock.
 */
struct ticks {
	uint64_t base, base_ns; /* one moment on both */
	double ns_per_tick;
};

/* By an agent, which isn't written for every machine. */
bool ticks_are_used(void);

/* Whether it counts evenly, on all processors, whatever they do. */
bool ticks_are_steady(void);

uint64_t ticks_now(void);

/* So many pass between two looks at it, at least. */
uint64_t ticks_of_look(void);

/* A first look at both clocks: they can't be compared yet. */
void ticks_begin(struct ticks *ret);

/* From now on they can; takes two milliseconds, less what has passed since. */
void ticks_gauge(struct ticks *ticks);

/*
 * Looks at both clocks again: what was taken over a longer time is better.
 * Times that have been told before are changed by less than a microsecond.
 */
void ticks_adjust(struct ticks *ticks);

uint64_t ticks_at(const struct ticks *ticks, uint64_t ns);

/* A number of ticks. */
static inline uint64_t ticks_length(const struct ticks *ticks, uint64_t count)
{
	/* Garbage is as good as any other number, but no undefined one. */
	if (count > UINT64_MAX / 8)
		return 0;
	return (uint64_t)(int64_t)((double)(int64_t)count * ticks->ns_per_tick);
}

uint64_t ticks_in(const struct ticks *ticks, uint64_t ns);

static inline uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t when)
{
	if (when >= ticks->base)
		return ticks->base_ns + ticks_length(ticks, when - ticks->base);
	return ticks->base_ns - ticks_length(ticks, ticks->base - when);
}

#endif
