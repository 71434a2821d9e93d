/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <stdbool.h>
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

#define LOOK_EVERY (NS_PER_SECOND / 100)

/* A time slice may lie between two readings: the best of some. */
#define READINGS   8
#define GOOD_ERROR 500

static struct wall_clock read_both(void)
{
	struct wall_clock best = { .error = UINT64_MAX };
	unsigned i;

	for (i = 0; i < READINGS && best.error > GOOD_ERROR; i++) {
		const uint64_t before = clock_now();
		const uint64_t wall = read_clock(CLOCK_REALTIME);
		const uint64_t after = clock_now();

		if (after - before < best.error)
			best = (struct wall_clock){
				.ahead = wall - before - (after - before) / 2,
				.error = after - before,
				.until = after + LOOK_EVERY,
			};
	}
	return best;
}

/* Both keep one pace: they are as far from each other as before, unless one was set. */
static bool is_still(const struct wall_clock *clock,
		     const struct wall_clock *now)
{
	const int64_t moved = (int64_t)(now->ahead - clock->ahead);
	const int64_t error = (int64_t)(clock->error + now->error);

	return clock->until && moved <= error && moved >= -error &&
	       (clock->error <= GOOD_ERROR || clock->error <= now->error);
}

uint64_t wall_clock_at(struct wall_clock *clock, uint64_t monotonic)
{
	struct wall_clock now;

	if (monotonic >= clock->until) {
		now = read_both();
		if (is_still(clock, &now))
			clock->until = now.until;
		else
			*clock = now;
	}
	return monotonic + clock->ahead;
}

uint64_t clock_wall(uint64_t monotonic)
{
	/* Read anew each time: the wall clock may be set while we run. */
	return monotonic + read_both().ahead;
}

uint64_t clock_of_process(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}
