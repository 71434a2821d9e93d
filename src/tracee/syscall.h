/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SYSCALL_H
#define CALLTRAP_SYSCALL_H

#include "tracee/tracer.h"

/*
 * Whether a system call that "fails" so was interrupted by a signal, and will
 * be made again or end with EINTR: only tracers ever see these.
 */
bool syscall_restarts(int error);

/* Whether it is one that was interrupted, or a wait that any stop has ended. */
bool syscall_is_cut_short(const struct syscall_stop *stop);

/* Whether the task is to stop at system calls, when it goes on. */
bool syscall_is_watched(const struct tracer *tracer, const struct task *task);

/* … for us, or for a source that has sent it. */
bool syscall_stops_at(const struct tracer *tracer, const struct task *task);

/*
 * Tells the client of a system call that was entered or returns. Returns
 * false when the task doesn't stand at one (any more).
 */
bool syscall_handle(struct tracer *tracer, struct task *task);

/*
 * A stop of ours ends some waits with EINTR, though no signal came. The
 * program must not see that: the call is made again, with all of its time; so
 * are waits that a filter might keep the kernel from going on with.
 */
bool syscall_restart_wait(struct task *task, const struct arch_ops *arch);

/*
 * The same of a stopped task's registers, which are changed if so. Of the
 * signals that wait for it those of the mask own are ours, too.
 */
bool syscall_wait_again(pid_t tid, const struct arch_ops *arch,
			struct regs *regs, uint64_t own);

/* Of a task whose registers nobody has read yet; false when it is gone. */
bool syscall_go_on_waiting(pid_t tid, uint64_t own);

/*
 * Processes were attached to, which stops none of their tasks. But a task that
 * runs on by itself stops at no system calls: each is stopped once.
 */
void syscall_watch_attached(struct tracer *tracer);

#endif
