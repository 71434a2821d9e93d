/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/leave.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sysdeps/linux/clone.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/loop.h"

/* A task that sleeps uninterruptibly (a dead disk) is not waited for. */
#define LEAVE_PATIENCE (2 * NS_PER_SECOND)

void leave_lift_traps(struct tracer *tracer)
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, tracer->tracees, tracee, next)
		trap_lift_all(tracee->space);
}

bool leave_can_spare(struct task *task)
{
	taddr_t ip, original;
	long number;
	bool done;

	/* One that makes a child has yet to tell of it, or stands there. */
	return !task->tracee->started && !task->listening &&
	       procfs_blocked_in_syscall(task->tid, &number, &ip) &&
	       !clone_is_call(number) &&
	       procfs_state(task->tid) != 't' &&
	       !scratch_resolve_ip(task->tracee->space, ip, &original, &done);
}

/*
 * Returns whether the task will report a stop. Waiting for a vfork child it
 * doesn't before that child is done; it is let go when we end.
 */
static bool ask_to_stop(struct task *task)
{
	if (!task->tracee)
		return false;
	if (task->stopped)
		return true;
	if (task->in_vfork)
		return false;
	if (leave_can_spare(task))
		return false;
	return task_ask_to_stop(task);
}

static void ask_everybody(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		task->leaving = ask_to_stop(task);
}

static bool is_anyone_leaving(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->leaving)
			return true;
	return false;
}

/* Handles stops until every task that was asked to has been let go. */
static void wait_for_leaving(struct tracer *tracer)
{
	uint64_t deadline = clock_now() + LEAVE_PATIENCE;
	int status;
	pid_t tid;

	loop_handle_queued(tracer);
	do {
		bool more = is_anyone_leaving(tracer);

		tid = waitpid(-1, &status, __WALL | WNOHANG * !more);
		if (tid > 0)
			loop_handle(tracer, tid, status, clock_now());
		else if (!more || errno != EINTR || clock_now() > deadline)
			break;
		loop_handle_queued(tracer);
	} while (true);
	loop_settle_orphans(tracer);
}

/* The spaces outlive the tasks that are let go: copies go last. */
static struct space **keep_spaces(struct tracer *tracer, size_t *count_ret)
{
	struct tracee *tracee, *next;
	struct space **spaces;
	size_t n = 0;

	spaces = xcalloc(HASH_COUNT(tracer->tracees), sizeof(*spaces));
	HASH_ITER(hh, tracer->tracees, tracee, next)
		spaces[n++] = space_get(tracee->space);
	*count_ret = n;
	return spaces;
}

void leave_all(struct tracer *tracer)
{
	size_t count;
	struct space **spaces = keep_spaces(tracer, &count);

	tracer->leaving = true;
	if (tracer->observer)
		tracer->observer->ops->leaving(tracer->observer);
	leave_lift_traps(tracer);
	ask_everybody(tracer);
	wait_for_leaving(tracer);
	while (count--) {
		scratch_restore(spaces[count]);
		space_put(spaces[count]);
	}
	free(spaces);
}
