/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/follow.h"

#include <sched.h>

#include "sysdeps/linux/procfs.h"

/* Stops after which the choice is made anew. */
#define WINDOW 1024

void follow_init(struct follow *follow)
{
	*follow = (struct follow){ 0 };
	affinity_init(&follow->affinity);
}

/*
 * On the processor of a real-time task we would run only while that stops, and
 * everybody else's stops would wait for it.
 */
static bool leaves_room(pid_t tid)
{
	int policy = sched_getscheduler(tid);

	if (policy < 0)
		return false;
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_OTHER || policy == SCHED_BATCH ||
	       policy == SCHED_IDLE;
}

static void choose(struct follow *follow)
{
	bool clear = follow->for_candidate > WINDOW * 3 / 4 &&
		     leaves_room(follow->candidate);

	affinity_keep_to(&follow->affinity,
			 clear ? procfs_processor(follow->candidate) : -1);
	follow->stops = follow->for_candidate = 0;
}

bool follow_is_near(pid_t tid)
{
	int processor = procfs_processor(tid);

	return processor >= 0 && processor == sched_getcpu();
}

void follow_stop(struct follow *follow, pid_t tid)
{
	if (!follow->votes)
		follow->candidate = tid;
	follow->votes += follow->candidate == tid ? 1 : -1;
	follow->for_candidate += follow->candidate == tid;
	if (++follow->stops == WINDOW)
		choose(follow);
}
