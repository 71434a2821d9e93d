/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_INTERVALS_H
#define CALLTRAP_DEBUGINFO_INTERVALS_H

#include <stdbool.h>

#include "base/types.h"

/* Half-open ranges of addresses, and what each stands for. */
struct interval {
	uint64_t low, high;
	uint64_t value;
	uint64_t reach; /* the highest end of this and all before it */
};

struct intervals {
	struct interval *list;
	size_t count, room;
};

void intervals_add(struct intervals *intervals, uint64_t low, uint64_t high,
		   uint64_t value);

/* After the last was added, before the first is looked for. */
void intervals_sort(struct intervals *intervals);

/* The smallest that holds an address, or NULL. */
const struct interval *intervals_find(const struct intervals *intervals,
				      uint64_t address);

/* The first that begins there, or NULL. */
const struct interval *intervals_begin(const struct intervals *intervals,
				       uint64_t address);
void intervals_fini(struct intervals *intervals);

#endif
