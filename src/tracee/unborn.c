/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/unborn.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/clone.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/loop.h"
#include "tracee/syscall.h"

/*
 * Whether a child will be traced is decided at the beginning of kernel_clone()
 * (kernel/fork.c), by what its parent is then; memory is copied later, in
 * copy_process(). But no task stops for its tracer in between: one that has
 * stopped since it was seized, or is seen to wait for something else, is past
 * both, or will begin with the decision.
 */

/* How long a vfork child may take until it ends, or runs another program. */
#define VFORK_PATIENCE (NS_PER_SECOND / 20)

/* How long it may take before those that still run are told to stop. */
#define WATCH (NS_PER_SECOND / 500)

/* Most stop at once; those who don't are looked at more closely then. */
#define LATE (NS_PER_SECOND / 500)

#define FIRST_PAUSE ((long)NS_PER_SECOND / 50000)
#define LAST_PAUSE  ((long)NS_PER_SECOND / 1000)

#define OUR_STOP (SIGTRAP | PTRACE_EVENT_STOP << 8)

static bool has_ended(pid_t tid)
{
	char state = procfs_state(tid);

	return !state || state == 'Z' || state == 'X';
}

/* A child that shares the memory has been made: only it is waited for. */
static bool awaits_vfork_child(pid_t tid, uint64_t waited)
{
	return waited > VFORK_PATIENCE && procfs_shares_with_child(tid) > 0;
}

static bool may_make_child(pid_t tid, uint64_t waited)
{
	taddr_t ip;
	long number;

	switch (procfs_place(tid, &number, &ip)) {
	case PROCFS_ANYWHERE:
		return !has_ended(tid);
	case PROCFS_OUTSIDE:
		return false;
	case PROCFS_IN_CALL:
		return clone_is_call(number) &&
		       !awaits_vfork_child(tid, waited);
	}
	return true;
}

/* A wait that our stop has ended is begun anew: no EINTR. */
static void go_on(struct task *task)
{
	struct tracer *tracer = task->tracee->space->tracer;
	const struct arch_ops *arch;
	struct regs *regs;
	int status;

	if (waitpid(task->tid, &status, __WALL | WNOHANG) != task->tid)
		return;
	/* It has died meanwhile. */
	if (!WIFSTOPPED(status) || status >> 8 != OUR_STOP) {
		tracer_queue_stop(tracer, task->tid, status);
		return;
	}
	task->asked = 0;
	task_forget_regs(task);
	regs = task_regs(task);
	arch = regs ? arch_of_regs(regs) : NULL;
	if (arch && syscall_restart_wait(task, arch) &&
	    ptrace_set_regs(task->tid, regs))
		diag_debug(DIAG_STOP, "%d is gone", (int)task->tid);
	task_forget_regs(task);
	(void)ptrace_continue(task->tid, 0);
}

/* No trap of ours can have made it. */
static bool is_foreign_signal(const siginfo_t *info)
{
	return info->si_code == CLD_TRAPPED && info->si_status < NSIG &&
	       info->si_status != SIGTRAP;
}

/* Others may be waiting for its handler: the runtime of Go stops its threads
   by SIGURG. */
static void deliver(const struct task *task)
{
	int status;

	if (waitpid(task->tid, &status, __WALL | WNOHANG) != task->tid)
		return;
	if (WIFSTOPPED(status) && status >> 16 == 0)
		(void)ptrace_continue(task->tid, WSTOPSIG(status));
	else
		tracer_queue_stop(task->tracee->space->tracer, task->tid,
				  status);
}

/*
 * What else it may have stopped for is the loop's, or that of who gives the
 * process back: its status isn't fetched. Our stop may then come as another
 * one, which the loop knows (task_ask_to_stop()).
 */
static bool has_come_out(struct task *task)
{
	siginfo_t info = { .si_pid = 0 };

	if (task->stopped)
		return true;
	if (waitid(P_PID, task->tid, &info,
		   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL))
		return true;
	if (!info.si_pid)
		return false;
	if (task->asked && info.si_code == CLD_TRAPPED &&
	    info.si_status == OUR_STOP)
		go_on(task);
	else if (is_foreign_signal(&info))
		deliver(task);
	return true;
}

static bool is_past(struct task *task, bool closely, uint64_t waited)
{
	return has_come_out(task) ||
	       (closely && !may_make_child(task->tid, waited));
}

static size_t drop_past(struct task **tasks, size_t count, bool closely,
			uint64_t waited)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (!is_past(tasks[i], closely, waited))
			tasks[left++] = tasks[i];
	return left;
}

/*
 * A stop may cut short what a system call does: a write to a pipe, of more than
 * fits. So those that run are given the time to be seen at rest.
 */
static size_t watch(struct task **tasks, size_t count)
{
	struct timespec pause = { .tv_nsec = FIRST_PAUSE };
	uint64_t since = clock_now();

	while ((count = drop_past(tasks, count, true, 0)) &&
	       clock_now() - since < WATCH) {
		nanosleep(&pause, NULL);
		pause.tv_nsec *= 2;
	}
	return count;
}

static size_t ask(struct task **tasks, size_t count)
{
	size_t asked = 0;

	for (size_t i = 0; i < count; i++)
		if (task_ask_to_stop(tasks[i]))
			tasks[asked++] = tasks[i];
	return asked;
}

/* What else is traced doesn't stand still as long. */
static void await(struct task **tasks, size_t count, uint64_t deadline)
{
	struct timespec pause = { .tv_nsec = FIRST_PAUSE };
	struct space *space = tasks[0]->tracee->space;
	uint64_t since = clock_now(), now;

	while ((now = clock_now()) < deadline) {
		const uint64_t waited = now - since;

		count = drop_past(tasks, count, waited > LATE, waited);
		if (!count ||
		    (waited > LATE && freezer_has_frozen("", tasks[0]->tid)))
			break;
		loop_serve_others(space->tracer, space);
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LAST_PAUSE)
			pause.tv_nsec *= 2;
	}
	diag_debug(DIAG_SESSION,
		   "threads that may have been making children: waited %.1f "
		   "ms, %zu of them are still at it",
		   (clock_now() - since) / 1e6, count);
}

/*
 * Those of the space that are new here. (The kernel traces the children of one
 * that it has traced from its birth.)
 */
static struct task **find_new(struct space *space, size_t *count_ret)
{
	struct tracer *tracer = space->tracer;
	struct task *task, *next;
	struct task **tasks =
		xcalloc(HASH_COUNT(tracer->tasks), sizeof(struct task *));
	size_t count = 0;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->tracee && task->tracee->space == space &&
		    !task->newborn && !task->begets_ours) {
			task->begets_ours = true;
			tasks[count++] = task;
		}
	*count_ret = count;
	return tasks;
}

bool unborn_await(struct space *space, uint64_t deadline)
{
	size_t count, asked;
	struct task **tasks CLEANUP(xfree_cleanup) = find_new(space, &count);

	asked = ask(tasks, watch(tasks, count));
	if (asked)
		await(tasks, asked, deadline);
	return count > 0;
}
