/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HIT_H
#define CALLTRAP_HIT_H

#include "tracee/tracer.h"

/*
 * A task has stopped with SIGTRAP. If a trap of ours is the cause its owners
 * are told and the task is brought past it: true. False: the signal is the
 * program's own.
 */
bool hit_handle(struct task *task);

/*
 * The same where no trap stands any more: a task that ran into one before is
 * set back to it, to run what is there now. Allocates nothing.
 */
bool hit_take_back(struct task *task);

/*
 * Its stop has just been fetched, and the kernel has forgotten it: killed now, we
 * would have the task go on behind the trap. So it is set back to it at once, if it
 * is a trap of ours; hit_handle() comes later. Allocates nothing.
 */
void hit_put_back(struct task *task);

#endif
