/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BATCH_H
#define CALLTRAP_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Who reads what the agent recorded isn't awaited by anybody: so it takes no
 * processor from a task that runs, but waits for one to be free, or for its turn.
 * That is SCHED_BATCH (sched(7)): the same share as any other's, but no wake-up
 * that preempts. Where tasks stop, and so do wait, it is as any other.
 */
struct batch {
	uint64_t stopped; /* when a task stopped last, or when this began */
	bool may;         /* nobody has chosen another policy for us */
	bool on;
};

void batch_init(struct batch *batch);

/* A task has stopped, and waits. */
void batch_stop(struct batch *batch, uint64_t now);

/* There is work now and then that nobody waits for. */
void batch_rest(struct batch *batch, uint64_t now);

#endif
