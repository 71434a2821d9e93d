/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

uint64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall(uint64_t monotonic)
{
	/* Read anew each time: the wall clock may be set while we run. */
	return read_clock(CLOCK_REALTIME) - (clock_now() - monotonic);
}

uint64_t clock_of_process(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}
