/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LEAVE_H
#define CALLTRAP_LEAVE_H

#include "tracee/tracer.h"

/*
 * Lets every tracee go: every byte is restored, every task runs as before.
 * Attached tasks that wait inside a system call aren't disturbed at all:
 * nothing of ours can be under their feet, and the kernel lets go of them when
 * calltrap exits, which must be soon. Needs a signal now and then (a timer) to
 * give up on a task that can't be stopped.
 */
void leave_all(struct tracer *tracer);

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
