/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/leave.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/clone.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/children.h"
#include "tracee/deaf_client.h"
#include "tracee/loop.h"

/* How long the user waits for them; see leave_late(). */
#define LEAVE_PATIENCE (10 * NS_PER_SECOND)

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
	       !clone_is_call(number) && procfs_state(task->tid) != 't' &&
	       !scratch_resolve_ip(task->tracee->space, ip, &original, &done) &&
	       !scratch_is_guest(task->tracee->space, ip);
}

/* A leader is a zombie until its last thread has ended, and stops no more. */
static bool has_ended(const struct task *task)
{
	char state = procfs_state(task->tid);

	return !state || state == 'Z' || state == 'X';
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
	if (leave_can_spare(task) || has_ended(task))
		return false;
	return task_ask_to_stop(task);
}

/* Some may have stopped meanwhile: they are let go of, and gone from the table. */
static void handle_waiting(struct tracer *tracer)
{
	(void)loop_fetch_all(tracer);
	loop_handle_queued(tracer);
}

/* As many are asked before those that have stopped are looked after. */
#define ASKED_AT_ONCE 32

/*
 * A look at a task takes a while where there are thousands. Those that stand
 * in a stop go first, and none waits until all others have been asked.
 */
static void ask_everybody(struct tracer *tracer)
{
	size_t count = HASH_COUNT(tracer->tasks), i = 0;
	pid_t *tids CLEANUP(xfree_cleanup) = xcalloc(count, sizeof(*tids));
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		tids[i++] = task->tid;
	for (i = 0; i < count; i++) {
		if (i % ASKED_AT_ONCE == 0)
			handle_waiting(tracer);
		task = task_find(tracer, tids[i]);
		if (task && !task->leaving)
			task->leaving = ask_to_stop(task);
	}
}

static bool is_anyone_leaving(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->leaving)
			return true;
	return false;
}

/* Those that were about to end when they were asked. */
static void forget_ended(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->leaving && !task->stopped && has_ended(task))
			task->leaving = false;
}

static size_t count_leaving(struct tracer *tracer)
{
	struct task *task, *next;
	size_t count = 0;

	HASH_ITER(hh, tracer->tasks, task, next)
		count += task->leaving;
	return count;
}

static bool is_frozen(const struct task *task)
{
	return task->tracee && freezer_has_frozen("", task->tracee->pid);
}

/* Nothing will happen before somebody thaws them: there is no use waiting. */
static bool are_all_frozen(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->leaving && !is_frozen(task))
			return false;
	return true;
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
			tracer_queue_stop(tracer, tid, status);
		else if (!more || errno != EINTR || clock_now() > deadline ||
			 are_all_frozen(tracer))
			break;
		else
			forget_ended(tracer);
		handle_waiting(tracer);
	} while (true);
	loop_settle_orphans(tracer);
}

/* What each of them is at, for who has to find out why it doesn't stop. */
static void log_late(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (task->leaving)
			diag_debug(DIAG_SESSION,
				   "late: thread %d of process %d, state %c%s%s"
				   "%s%s",
				   (int)task->tid,
				   task->tracee ? (int)task->tracee->pid : 0,
				   procfs_state(task->tid) ?: '-',
				   task->stopped ? ", in a stop" : "",
				   task->held ? ", held" : "",
				   task->in_vfork ? ", in vfork" : "",
				   task->listening ? ", stopped" : "");
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

static void restore_copies(const struct leave *leave)
{
	size_t i;

	for (i = 0; i < leave->count; i++)
		scratch_restore(leave->spaces[i]);
}

static void free_leave(struct leave *leave)
{
	while (leave->count)
		space_put(leave->spaces[--leave->count]);
	free(leave->spaces);
	leave->spaces = NULL;
}

/* How long each part took: tasks that are stopped wait that long. */
static void tell_phase(const char *phase, uint64_t *since)
{
	uint64_t now = clock_now();

	diag_debug(DIAG_SESSION, "leaving: %s took %.1f ms", phase,
		   (now - *since) / 1e6);
	*since = now;
}

bool leave_all(struct tracer *tracer, struct leave *ret)
{
	uint64_t since = clock_now();

	ret->spaces = keep_spaces(tracer, &ret->count);
	tracer->leaving = true;
	sources_leaving(tracer);
	leave_lift_traps(tracer);
	tell_phase("lifting traps", &since);
	ask_everybody(tracer);
	tell_phase("asking tasks to stop", &since);
	wait_for_leaving(tracer);
	tell_phase("waiting for them", &since);
	forget_ended(tracer);
	ret->late = count_leaving(tracer);
	if (ret->late) {
		log_late(tracer);
		return false;
	}
	restore_copies(ret);
	free_leave(ret);
	child_drop_spaces(tracer);
	return true;
}

/* ---- those that are late ---- */

static struct tracer_client deaf = { &deaf_client_ops };

void leave_late(struct tracer *tracer, struct leave *leave)
{
	tracer->client = &deaf;
	tracer->sources = NULL;
	tracer->keeps_tracees = true;
	while (is_anyone_leaving(tracer) && loop_once(tracer))
		forget_ended(tracer);
	loop_settle_orphans(tracer);
	restore_copies(leave);
}
