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

struct detail {
	double most;             /* of the time that is the program's own */
	enum detail_level least; /* it goes as far as this */
	enum detail_level level;
	unsigned calm, patience;    /* looks in a row */
	uint64_t used_ns, spent_ns; /* at the last look */
	/* In all. */
	uint64_t own_ns, cost_ns;
	uint64_t looks, at[DETAIL_LEVELS]; /* … with which level before */
};

/*
 * used_ns: processors' time of all processes; spent_ns: what telling of calls
 * took of it, or made it wait. Returns whether the level is another one now.
 */
bool detail_look(struct detail *detail, uint64_t used_ns, uint64_t spent_ns);

#endif
