/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLOCK_H
#define CALLTRAP_CLOCK_H

#include <sys/types.h>

#include "base/types.h"

#define NS_PER_SECOND 1000000000ull

/* Monotonic time in nanoseconds: the time of every event. */
uint64_t clock_now(void);

/* The wall clock, in nanoseconds since 1970, at a monotonic time. */
uint64_t clock_wall(uint64_t monotonic);

/*
 * The same for many moments, one of which is seldom far from the one before: what lies
 * between the two clocks is looked at again when that was 10 ms before, as the wall
 * clock may be set. Zeros at first.
 */
struct wall_clock {
	uint64_t ahead; /* of the monotonic one */
	uint64_t error; /* of that, at most */
	uint64_t until; /* moments before that need no look */
};

uint64_t wall_clock_at(struct wall_clock *clock, uint64_t monotonic);

/* How long a process has been on processors, in nanoseconds; 0: not known. */
uint64_t clock_of_process(pid_t pid);

#endif
