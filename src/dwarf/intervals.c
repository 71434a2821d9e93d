/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/intervals.h"

#include <stdlib.h>

#include "base/xalloc.h"

void intervals_add(struct intervals *intervals, uint64_t low, uint64_t high,
		   uint64_t value)
{
	if (low >= high)
		return;
	intervals->list = xgrow(intervals->list, intervals->count,
				&intervals->room, sizeof(*intervals->list));
	intervals->list[intervals->count++] =
		(struct interval){ low, high, value, high };
}

static int compare(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

void intervals_sort(struct intervals *intervals)
{
	uint64_t reach = 0;
	size_t i;

	if (intervals->count)
		qsort(intervals->list, intervals->count,
		      sizeof(*intervals->list), compare);
	for (i = 0; i < intervals->count; i++) {
		if (intervals->list[i].high > reach)
			reach = intervals->list[i].high;
		intervals->list[i].reach = reach;
	}
}

/* How many begin before an address, or there. */
static size_t bound(const struct intervals *intervals, uint64_t address)
{
	size_t low = 0, high = intervals->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (intervals->list[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct interval *intervals_find(const struct intervals *intervals,
				      uint64_t address)
{
	const struct interval *best = NULL;
	size_t i;

	for (i = bound(intervals, address);
	     i > 0 && intervals->list[i - 1].reach > address; i--) {
		const struct interval *interval = &intervals->list[i - 1];

		if (interval->high > address &&
		    (!best ||
		     interval->high - interval->low < best->high - best->low))
			best = interval;
	}
	return best;
}

const struct interval *intervals_begin(const struct intervals *intervals,
				       uint64_t address)
{
	size_t i = bound(intervals, address);
	const struct interval *found = NULL;

	for (; i > 0 && intervals->list[i - 1].low == address; i--)
		found = &intervals->list[i - 1];
	return found;
}

void intervals_fini(struct intervals *intervals)
{
	free(intervals->list);
	*intervals = (struct intervals){ 0 };
}
