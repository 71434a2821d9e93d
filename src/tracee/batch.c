/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/batch.h"

#include <sched.h>

#include "base/clock.h"

/* Nobody having stopped for so long, the next one will hardly do so soon. */
#define QUIET NS_PER_SECOND

void batch_init(struct batch *batch)
{
	*batch = (struct batch){ .stopped = clock_now(),
				 .may = sched_getscheduler(0) == SCHED_OTHER };
}

/* Threads that are made meanwhile are not to take it after us. */
static void set(struct batch *batch, bool on)
{
	const struct sched_param none = { .sched_priority = 0 };
	int policy = (on ? SCHED_BATCH : SCHED_OTHER) | SCHED_RESET_ON_FORK;

	batch->may = !sched_setscheduler(0, policy, &none);
	batch->on = on;
}

void batch_stop(struct batch *batch, uint64_t now)
{
	batch->stopped = now;
	if (batch->on)
		set(batch, false);
}

void batch_rest(struct batch *batch, uint64_t now)
{
	if (batch->may && !batch->on && now > batch->stopped + QUIET)
		set(batch, true);
}
