/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FOLLOW_H
#define CALLTRAP_FOLLOW_H

#include <sys/types.h>

#include "base/types.h"
#include "sysdeps/linux/affinity.h"
#include <stdbool.h>

/*
 * Keeps calltrap on the processor of the task that stops most: each stop then
 * is a switch on one processor, instead of waking another one that is idle
 * (which costs several times as much). Where several tasks are busy it runs
 * where the scheduler likes.
 */
struct follow {
	struct affinity affinity;
	pid_t candidate; /* majority vote over the stops of a window */
	unsigned votes;
	unsigned stops;
	unsigned for_candidate;
};

void follow_init(struct follow *follow);

/* A task has stopped. */
void follow_stop(struct follow *follow, pid_t tid);

/*
 * Whether a task that has stopped ran on the processor that we run on. To keep
 * to it doesn't say so: while another processor is idle, the kernel wakes the
 * task there (select_idle_sibling(), kernel/sched/fair.c).
 */
bool follow_is_near(pid_t tid);

#endif
