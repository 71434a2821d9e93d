/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LEAVE_H
#define CALLTRAP_LEAVE_H

#include "tracee/tracer.h"

/* Who would not stop at once, and what they may still stand in. */
struct leave {
	struct space **spaces; /* their copies go last */
	size_t count;
	size_t late; /* tasks */
};

/*
 * Lets every tracee go: every byte is restored, every task runs as before.
 * Attached tasks that wait inside a system call aren't disturbed at all:
 * nothing of ours can be under their feet, and the kernel lets go of them when
 * the thread that traces ends, which must be soon. Needs a signal now and then
 * (a timer).
 *
 * A task that is frozen, gets no processor, or sleeps uninterruptibly, may
 * stand behind an int3 that it has not told of, or in a copy of an
 * instruction: it can't be let go of before it has stopped. False: there are
 * such, task->leaving is true of them, and leave_late() must follow.
 */
bool leave_all(struct tracer *tracer, struct leave *ret);

/*
 * Waits for them, however long it takes. The tracer's client hears nothing
 * any more, and tracees stay in their table: others may look at it.
 */
void leave_late(struct tracer *tracer, struct leave *leave);

/*
 * The same without allocation, for the fatal hook (need.c). Copies of
 * instructions stay where they are: a task may be in one.
 */
void leave_in_need(struct tracer *tracer);

/* What both are made of. */

void leave_lift_traps(struct tracer *tracer);

/*
 * Whether a running task can be left alone: it is blocked in a system call,
 * so it has no int3 behind it that we haven't heard of, and no trap is left
 * that it could run into.
 */
bool leave_can_spare(struct task *task);

#endif
