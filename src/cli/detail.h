/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DETAIL_H
#define CALLTRAP_DETAIL_H

#include <stdbool.h>

#include "base/types.h"

/*
 * --max-overhead of a log: what calls are told of without while they cost more
 * than is allowed. More is left out as soon as that is so; it comes back when it
 * was far less for a while, which gets longer each time that this was too soon.
 */
enum detail_level {
	DETAIL_ALL,
	DETAIL_NO_TEXTS,  /* nothing that arguments and results point to */
	DETAIL_NO_STACKS, /* … and of stacks the caller alone */
	DETAIL_LEVELS
};

/* Of all processes, up to now. */
struct detail_sums {
	uint64_t used_ns; /* processors' time */
	uint64_t spent_ns; /* what telling of calls took of it, or had it wait … */
	uint64_t measured; /* … as estimated from so many calls */
};

struct detail {
	double most;             /* of the time that is the program's own */
	enum detail_level least; /* it goes as far as this */
	enum detail_level level;
	enum detail_level deepest; /* that there was */
	unsigned calm, patience;   /* looks in a row */
	bool came_back;            /* since more was left out last */
	struct detail_sums then;   /* at the last look */
	/* In all. */
	uint64_t own_ns, cost_ns;
	uint64_t at_ns[DETAIL_LEVELS]; /* … of that, at each level */
};

/* Returns whether the level is another one now. */
bool detail_look(struct detail *detail, const struct detail_sums *now);

#endif
