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
 * The same as far as it goes without allocation and without waiting: every
 * byte restored. For the fatal hook.
 */
void leave_in_need(struct tracer *tracer);

#endif
