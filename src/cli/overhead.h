/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OVERHEAD_H
#define CALLTRAP_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

/*
 * --max-overhead: of all blocks as many are kept as can be had at that price.
 * The rate says how often the mean distance between two samples is doubled. It
 * rises as soon as what was kept has cost too much, and falls where it has cost
 * far less.
 */
struct overhead_sums {
	uint64_t used_ns; /* processors' time of all processes */
	uint64_t cost_ns; /* what watching has taken of it, or made it wait */
	size_t held;      /* blocks */
};

struct overhead {
	double most; /* of the time that is the program's own; 0: any */
	unsigned rate, rates;
	size_t room;    /* blocks that can be held */
	size_t held_at; /* so many had it rise last; 0: they are few */
	struct overhead_sums then; /* when it was looked at last */
	/* In all. */
	uint64_t own_ns, cost_ns;
};

/* How often the mean is doubled to begin with: up to 512 KiB, as Go's, for rather
   too little is kept than too much. */
unsigned overhead_first_rate(uint64_t sample);

/* Returns whether there is another rate. */
bool overhead_look(struct overhead *overhead, const struct overhead_sums *now);

#endif
