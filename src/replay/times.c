/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/times.h"

/* Exact below 32; sixteen classes for each power of two from there on. */
#define EXACT      32
#define EXACT_BITS 5
#define PER_POWER  16

static unsigned class_of(uint64_t ns)
{
	unsigned power, class;

	if (ns < EXACT)
		return ns;
	power = 63 - __builtin_clzll(ns);
	class = EXACT + (power - EXACT_BITS) * PER_POWER +
		(ns >> (power - 4) & (PER_POWER - 1));
	return class < TIME_CLASSES ? class : TIME_CLASSES - 1;
}

/* The middle of a class. */
static uint64_t time_of(unsigned class)
{
	const unsigned above = class - EXACT;
	const unsigned shift = above / PER_POWER + 1;

	if (class < EXACT)
		return class;
	return ((uint64_t)(PER_POWER + above % PER_POWER) << shift) +
	       (UINT64_C(1) << shift) / 2;
}

void call_times_add(struct call_times *times, uint64_t nanoseconds)
{
	times->classes[class_of(nanoseconds)]++;
	times->count++;
	times->total += nanoseconds;
	if (nanoseconds > times->max)
		times->max = nanoseconds;
}

void call_times_merge(struct call_times *to, const struct call_times *from)
{
	for (unsigned i = 0; i < TIME_CLASSES; i++)
		to->classes[i] += from->classes[i];
	to->count += from->count;
	to->total += from->total;
	if (from->max > to->max)
		to->max = from->max;
}

/* As long as that many of a hundred took, at most. */
static uint64_t quantile(const struct call_times *times, unsigned per_cent)
{
	const uint64_t wanted = (times->count * per_cent + 99) / 100;
	uint64_t seen = 0;

	for (unsigned i = 0; i < TIME_CLASSES; i++) {
		seen += times->classes[i];
		if (times->classes[i] && seen >= wanted)
			return time_of(i) < times->max ? time_of(i) :
							 times->max;
	}
	return 0;
}

struct replay_times call_times_sum(const struct call_times *times)
{
	return (struct replay_times){
		.count = times->count,
		.total = times->total,
		.half = quantile(times, 50),
		.most = quantile(times, 99),
		.max = times->max,
	};
}
