/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TIMES_H
#define CALLTRAP_TIMES_H

#include "replay/plan.h"

/*
 * How long calls took, in classes a sixteenth wide, which take no memory but
 * their own: those of one thread and function. Zeroed: empty.
 */
#define TIME_CLASSES 640

struct call_times {
	uint32_t classes[TIME_CLASSES];
	uint64_t count, total, max;
};

void call_times_add(struct call_times *times, uint64_t nanoseconds);
void call_times_merge(struct call_times *to, const struct call_times *from);
struct replay_times call_times_sum(const struct call_times *times);

#endif
