/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/freeze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/attach.h"
#include "tracee/syscall.h"

/* Tasks that are made while others are stopped: each pass finds fewer. */
#define PASSES_MAX 1000

/* What takes longer is in the kernel, and will stop on its way out. */
#define PATIENCE (NS_PER_SECOND / 5)

/*
 * Whether it is one of the first so many. The kernel lists tasks in the order in
 * which they were begun, so each is found behind the one before.
 */
static bool is_held(const struct freeze *freeze, size_t count, pid_t tid,
		    size_t *hint)
{
	for (size_t i = 0; i < count; i++) {
		const size_t at = (*hint + i) % count;

		if (freeze->tasks[at].tid != tid)
			continue;
		*hint = at + 1;
		return true;
	}
	return false;
}

static int seize(struct freeze *freeze, pid_t tid)
{
	int err = ptrace_seize(tid, 0);

	if (err)
		return err;
	(void)ptrace_interrupt(tid);
	freeze->tasks = xgrow(freeze->tasks, freeze->count, &freeze->room,
			      sizeof(*freeze->tasks));
	freeze->tasks[freeze->count++] = (struct frozen_task){ .tid = tid };
	return 0;
}

/* Returns how many tasks were new, or why the first couldn't be held. */
static int seize_pass(struct freeze *freeze, pid_t pid)
{
	pid_t *tids CLEANUP(xfree_cleanup) = NULL;
	const size_t before = freeze->count;
	size_t count = 0, hint = 0;
	int err = procfs_tasks(pid, &tids, &count), added = 0;

	for (size_t i = 0; !err && i < count; i++) {
		if (is_held(freeze, before, tids[i], &hint))
			continue;
		err = seize(freeze, tids[i]);
		added += !err;
		if (err == -ERR_GONE || (err && !procfs_is_alive(tids[i])))
			err = 0;
	}
	return err ? err : added;
}

static void note_stop(struct frozen_task *task, int status)
{
	task->stop = stop_classify(status);
	if (task->stop.kind == STOP_EXITED || task->stop.kind == STOP_KILLED) {
		task->tid = 0;
		return;
	}
	task->stopped = true;
	task->known = !ptrace_get_regs(task->tid, &task->regs);
	if (task->known && ptrace_get_fp_regs(task->tid, &task->fp))
		task->fp = (struct fp_regs){ 0 };
}

/* What sleeps in the kernel and can't be woken runs no code of its own. */
static void wait_for(struct frozen_task *task, uint64_t deadline)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	int status;
	pid_t found;

	for (;;) {
		found = waitpid(task->tid, &status, __WALL | WNOHANG);
		if (found == task->tid) {
			note_stop(task, status);
			return;
		}
		if (found < 0 && errno == ECHILD) {
			task->tid = 0;
			return;
		}
		if (clock_now() > deadline)
			return;
		nanosleep(&pause, NULL);
	}
}

static void wait_for_all(struct freeze *freeze)
{
	const uint64_t deadline = clock_now() + PATIENCE;

	for (size_t i = 0; i < freeze->count; i++)
		if (freeze->tasks[i].tid && !freeze->tasks[i].stopped)
			wait_for(&freeze->tasks[i], deadline);
}

static int freeze_once(pid_t pid, struct freeze *ret, char **message_ret)
{
	int added = 1;

	*ret = (struct freeze){ .since = clock_now() };
	*message_ret = attach_refuse(pid);
	if (*message_ret)
		return -EPERM;
	for (unsigned pass = 0; pass < PASSES_MAX && added > 0; pass++) {
		added = seize_pass(ret, pid);
		wait_for_all(ret);
	}
	if (added < 0) {
		*message_ret = attach_explain(pid, added);
		(void)freeze_end(ret);
		freeze_fini(ret);
		return added;
	}
	return 0;
}

/* Whoever looks at a process has let go of it soon; who traces it may be slow. */
#define TURN (2 * NS_PER_SECOND)

static bool is_looked_at(pid_t pid)
{
	static const char *const names[] = { "calltrap", FREEZE_COPIER };
	char name[PROCFS_COMM_ROOM];
	const pid_t tracer = procfs_tracer(pid);

	if (!tracer)
		return false;
	procfs_comm(tracer, name);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

int freeze_begin(pid_t pid, struct freeze *ret, char **message_ret)
{
	const struct timespec pause = { .tv_nsec = NS_PER_SECOND / 100 };
	const uint64_t deadline = clock_now() + TURN;
	int err = freeze_once(pid, ret, message_ret);

	while (err == -EPERM && is_looked_at(pid) && clock_now() < deadline) {
		free(*message_ret);
		nanosleep(&pause, NULL);
		err = freeze_once(pid, ret, message_ret);
	}
	return err;
}

static void let_go(const struct frozen_task *task)
{
	const bool signal = task->stop.kind == STOP_SIGNAL ||
			    task->stop.kind == STOP_TRAP;
	struct regs again = task->regs;
	const struct arch_ops *arch = task->known ? arch_of_regs(&again) : NULL;

	/* It can't fail but for a task that is gone. */
	if (!signal && arch && syscall_wait_again(task->tid, arch, &again, 0) &&
	    ptrace_set_regs(task->tid, &again))
		return;
	(void)ptrace_detach(task->tid, signal ? task->stop.signal : 0);
}

uint64_t freeze_end(struct freeze *freeze)
{
	for (size_t i = 0; i < freeze->count; i++) {
		struct frozen_task *task = &freeze->tasks[i];

		if (task->tid && !task->stopped)
			wait_for(task, 0);
		if (task->tid && task->stopped)
			let_go(task);
	}
	return clock_now() - freeze->since;
}

void freeze_fini(struct freeze *freeze)
{
	free(freeze->tasks);
	*freeze = (struct freeze){ .tasks = NULL };
}
