/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/attach.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/loop.h"
#include "tracee/reaper.h"
#include "tracee/seize.h"
#include "tracee/sharers.h"
#include "tracee/stop.h"
#include "tracee/syscall.h"
#include "tracee/unborn.h"

/* New threads are attached by the kernel; this only guards against a ring. */
#define PASSES_MAX 1000

/* How long children may take that were begun before their parents were seized. */
#define UNBORN_PATIENCE NS_PER_SECOND

/* How long a task may take to stop, where it shall be let go. */
#define PATIENCE NS_PER_SECOND

/* By the value of ptrace_scope; Documentation/admin-guide/LSM/Yama.rst. */
static const char *const yama_advice[] = {
	[1] = "the kernel allows tracing of one's own children only: start "
	      "the program with calltrap, or run calltrap as root",
	[2] = "the kernel allows only root to trace: run calltrap as root",
	[3] = "the kernel allows no tracing at all until the next boot",
};

static char *diagnose_permission(pid_t pid, const struct procfs_status *status,
				 const struct attach_rights *own)
{
	const uid_t own_uid = own->uid;
	const int yama = own->yama;

	if (own_uid && status->uids[0] != own_uid)
		return xasprintf("process %d (%s) belongs to another user "
				 "(uid %u): run calltrap as that user or as "
				 "root",
				 (int)pid, status->name, status->uids[0]);
	/* Containers have such roots, and take it away by default. */
	if (!own_uid && !own->able && yama < 3)
		return xasprintf("process %d (%s) can't be traced: root needs "
				 "CAP_SYS_PTRACE for that, and calltrap hasn't "
				 "got it: give it to the container (--cap-add "
				 "SYS_PTRACE)",
				 (int)pid, status->name);
	/* Root is kept from it by the last of these only. */
	if (yama < (int)ARRAY_SIZE(yama_advice) && yama > (own_uid ? 0 : 2))
		return xasprintf("process %d (%s): %s "
				 "(/proc/sys/kernel/yama/ptrace_scope is %d)",
				 (int)pid, status->name, yama_advice[yama],
				 yama);
	if (!own_uid)
		return xasprintf("process %d (%s) can't be traced: a security "
				 "module or a container's settings forbid it, "
				 "even to root",
				 (int)pid, status->name);
	return xasprintf("process %d (%s) can't be traced: it is not dumpable "
			 "(it was set-user-ID, or asked for it with prctl), or "
			 "a security module forbids it: run calltrap as root",
			 (int)pid, status->name);
}

char *attach_diagnose(pid_t pid, const struct procfs_status *status,
		      const char *tracer_name, const struct attach_rights *own,
		      int error)
{
	if (status->tracer)
		return xasprintf("process %d (%s) is already being traced by "
				 "process %d (%s): end that one first",
				 (int)pid, status->name, (int)status->tracer,
				 tracer_name ? tracer_name : "?");
	if (status->state == 'Z' || status->state == 'X')
		return xasprintf("process %d (%s) has ended already (it is a "
				 "zombie)",
				 (int)pid, status->name);
	if (error == -ERR_GONE)
		return xasprintf("process %d (%s) has just ended", (int)pid,
				 status->name);
	if (!status->has_memory)
		return xasprintf("process %d (%s) is a kernel thread: it makes "
				 "no library calls",
				 (int)pid, status->name);
	if (error == -EPERM || error == -EACCES)
		return diagnose_permission(pid, status, own);
	if (error)
		return xasprintf("process %d (%s): %s", (int)pid, status->name,
				 strerror(-error));
	return NULL;
}

/*
 * The status of a process is that of its leader. When that has ended by
 * pthread_exit(), its other threads have to speak for it.
 */
static int read_status(pid_t pid, struct procfs_status *ret)
{
	struct procfs_status leader;
	pid_t live;
	int err = procfs_status(pid, &leader);

	if (err)
		return err;
	*ret = leader;
	live = procfs_live_task(pid);
	if (live && live != pid && !procfs_status(live, ret))
		memcpy(ret->name, leader.name, sizeof(ret->name));
	return 0;
}

/* Where it isn't told, root is taken for able. */
static void own_rights(struct attach_rights *ret)
{
	struct procfs_status own;

	*ret = (struct attach_rights){ geteuid(), !geteuid(),
				       procfs_ptrace_scope() };
	if (!procfs_status(getpid(), &own))
		ret->able = own.caps_effective >> CAP_SYS_PTRACE & 1;
}

char *attach_explain(pid_t pid, int error)
{
	struct procfs_status status, tracer;
	struct attach_rights own;
	const char *name = NULL;
	int err = read_status(pid, &status);

	if (err == -ERR_GONE)
		return xasprintf("no process %d", (int)pid);
	if (err)
		return xasprintf("process %d: what /proc says of it can't be "
				 "read: %s",
				 (int)pid, strerror(-err));
	/* The kernel names the thread. */
	if (status.tracer && !procfs_status(status.tracer, &tracer)) {
		name = tracer.name;
		status.tracer = tracer.tgid;
	}
	if (!status.has_memory && !procfs_is_kernel_thread(pid))
		error = -ERR_GONE;
	own_rights(&own);
	return attach_diagnose(pid, &status, name, &own, error);
}

/*
 * A thread that called execve before it was seized has its leader's number by
 * now, and that is thought to be ours.
 */
static bool is_ours(const struct tracee *tracee, pid_t tid)
{
	struct procfs_status status;

	return task_find(tracee->space->tracer, tid) &&
	       (tid != tracee->pid || procfs_status(tid, &status) ||
		status.tracer);
}

/* It lives, and isn't ours by the clone event of a seized sibling, either. */
static bool is_stranger(pid_t tid)
{
	struct procfs_status status;

	return !procfs_status(tid, &status) && status.state != 'Z' &&
	       status.state != 'X' && status.tracer != gettid();
}

/*
 * Seizes what isn't ours yet; returns how many there were, or an error: -EBUSY
 * when somebody stays out of reach, who would die of the first trap.
 */
static int seize_pass(struct tracee *tracee)
{
	struct tracer *tracer = tracee->space->tracer;
	pid_t *tids CLEANUP(xfree_cleanup) = NULL;
	struct reaper *reaper = NULL;
	size_t count, i;
	int added = 0;
	int err = procfs_tasks(tracee->pid, &tids, &count);

	if (err)
		return err;
	if (count > 1)
		reaper = reaper_start();
	for (i = 0; i < count; i++) {
		if (is_ours(tracee, tids[i]))
			continue;
		err = reaper_seize(reaper, tids[i], SEIZE_OPTIONS, tids, count);
		if (!err) {
			if (!task_find(tracer, tids[i]))
				task_new(tracer, tids[i], tracee);
			added++;
		} else if (err == -EPERM && is_stranger(tids[i])) {
			tracee->space->stranger = tids[i];
		}
	}
	reaper_end(reaper, tracer);
	if (tracee->space->stranger)
		return -EBUSY;
	return added ? added : tracee->tasks ? 0 : err;
}

int attach_seize(struct tracee *tracee)
{
	int pass, added = 1;

	for (pass = 0; pass < PASSES_MAX && added > 0; pass++)
		added = seize_pass(tracee);
	return added < 0 ? added : tracee->tasks ? 0 : -ERR_GONE;
}

/* False when it can't be stopped now (it sleeps, or waits for a vfork child) */
static bool wait_for_stop(pid_t tid, int *status_ret)
{
	const struct timespec pause = { .tv_nsec = NS_PER_SECOND / 1000 };
	uint64_t deadline = clock_now() + PATIENCE;
	pid_t found;

	while ((found = waitpid(tid, status_ret, __WALL | WNOHANG)) == 0 &&
	       clock_now() < deadline)
		nanosleep(&pause, NULL);
	return found == tid;
}

/*
 * Detaches a task that was told to stop, and the child that it may have begun
 * meanwhile, which the kernel has attached to us. No trap has been planted
 * yet.
 */
static bool let_go(pid_t tid)
{
	unsigned long child;
	struct stop stop;
	int status;

	if (!wait_for_stop(tid, &status))
		return errno == ECHILD;
	stop = stop_classify(status);
	if ((stop.kind == STOP_FORK || stop.kind == STOP_VFORK ||
	     stop.kind == STOP_CLONE) &&
	    !ptrace_get_event_message(tid, &child))
		(void)let_go(child);
	/* A wait that our stop has ended is begun anew: no EINTR. */
	if (stop.kind == STOP_INTERRUPT && !syscall_go_on_waiting(tid, 0))
		diag_debug(DIAG_STOP, "%d is gone", (int)tid);
	(void)ptrace_detach(tid,
			    stop.kind == STOP_SIGNAL || stop.kind == STOP_TRAP ?
				    stop.signal :
				    0);
	return true;
}

/* A process that won't be traced after all: it must not stay attached. */
static void give_back(struct tracer *tracer, struct tracee *tracee)
{
	struct task *task, *next;

	for_each_task_of(tracee, task)
		(void)task_ask_to_stop(task);
	for (task = tracee->tasks; task; task = next) {
		next = task->next;
		if (let_go(task->tid))
			task_free(tracer, task);
	}
	/* What can't be stopped is let go of like all others at the end. */
	if (!tracee->tasks)
		tracee_free(tracer, tracee);
}

char *attach_refuse(pid_t pid)
{
	struct procfs_status status;

	if (pid == getpid() || pid == getppid())
		return xasprintf("process %d is calltrap itself", (int)pid);
	if (!procfs_status(pid, &status) && status.tgid != pid)
		return xasprintf("%d is a thread of process %d: attach to that "
				 "(-p %d)",
				 (int)pid, (int)status.tgid, (int)status.tgid);
	return attach_explain(pid, 0);
}

/* Without any there is no room for the first one. */
static char *tell_pages(size_t pages)
{
	return pages ? xasprintf("traps in %zu pages of code would take %zu "
				 "KiB. Name fewer functions, or raise the limit",
				 pages, pages * (PAGE_SIZE / 1024)) :
		       xasprintf("there is none for traps. Raise the limit");
}

static char *tell_no_room(const struct tracee *tracee)
{
	struct space *space = tracee->space;
	size_t pages = charge_count_deferred(space);
	char *what CLEANUP(xfree_cleanup) = tell_pages(pages);
	struct charge_room room = { 0, 0 };

	(void)charge_has_room(space, pages, &room);
	return xasprintf("process %d: its memory cgroup has %" PRIu64
			 " KiB left, and %" PRIu64 " KiB have to stay free, or "
			 "the kernel might kill it: %s",
			 (int)tracee->pid, room.left / 1024, room.spare / 1024,
			 what);
}

/* Alone it is told of as what the process is. */
static char *tell_stranger(const struct tracee *tracee)
{
	const pid_t stranger = tracee->space->stranger;
	char *why = attach_explain(stranger, -EPERM), *text;

	if (stranger == tracee->pid)
		return why;
	text = xasprintf("process %d: %d runs in its memory, too, and would "
			 "run into its traps: %s",
			 (int)tracee->pid, (int)stranger, why);
	free(why);
	return text;
}

static char *tell_unreadable(const struct tracee *tracee, int error)
{
	pid_t pid = tracee->pid;

	if (error == -EBUSY)
		return tell_stranger(tracee);
	if (error == -EDQUOT)
		return tell_no_room(tracee);
	if (error == -ENODATA)
		return xasprintf("process %d has changed what the kernel shows "
				 "of it (its auxiliary vector): its program "
				 "can't be found",
				 (int)pid);
	if (error == -EMFILE)
		return xasprintf("process %d: too few descriptors are left for "
				 "it: raise the limit (ulimit -n)",
				 (int)pid);
	if (error == -EAGAIN)
		return xasprintf("process %d is just starting another program, "
				 "and takes long: try again",
				 (int)pid);
	if (error == -ETIMEDOUT)
		return xasprintf("process %d: its program can't be read: its "
				 "file system doesn't answer",
				 (int)pid);
	if (error == -ENOEXEC)
		return xasprintf("process %d: its program is for a processor "
				 "that calltrap doesn't know, or no ELF file",
				 (int)pid);
	return xasprintf("process %d: its program can't be read: %s", (int)pid,
			 error == -ERR_GONE ? "it has ended" :
					      strerror(-error));
}

static void tell_if_frozen(pid_t pid)
{
	if (freezer_has_frozen("", pid))
		diag(DIAG_WARNING, DIAG_SESSION,
		     "process %d is frozen (by its cgroup): it makes no calls, "
		     "and can't be let go of, before it is thawed",
		     (int)pid);
}

/* The status may have been fetched; else it is looked at, and left there. */
static bool stands_at_exec(const struct tracer *tracer, pid_t pid)
{
	const int event = SIGTRAP | PTRACE_EVENT_EXEC << 8;
	siginfo_t info = { .si_pid = 0 };
	size_t i;

	for (i = 0; i < tracer->queue_count; i++)
		if (tracer->queue[i].tid == pid &&
		    tracer->queue[i].status >> 8 == event)
			return true;
	return !waitid(P_PID, pid, &info,
		       WSTOPPED | WNOHANG | WNOWAIT | __WALL) &&
	       info.si_pid == pid && info.si_status == event;
}

/*
 * It was found while it ran another program: nothing fits together. Once that
 * has been loaded, the process stops for us, and is looked at anew. One that
 * has ended looks the same, and nobody waits for that. Else the error remains.
 */
static int await_exec(struct space *space, pid_t pid, int err)
{
	const struct timespec pause = { .tv_nsec = NS_PER_SECOND / 1000 };
	uint64_t deadline = clock_now() + PATIENCE;

	while (space_is_left(space)) {
		if (stands_at_exec(space->tracer, pid))
			return 0;
		if (!procfs_live_task(pid))
			return -ERR_GONE;
		if (clock_now() > deadline)
			break;
		nanosleep(&pause, NULL);
	}
	return err;
}

static void seize_new_tasks(struct space *space)
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, space->tracer->tracees, tracee, next)
		if (tracee->space == space && attach_seize(tracee))
			diag_debug(DIAG_SESSION, "process %d is gone",
				   (int)tracee->pid);
}

/*
 * All who run in the memory must be ours before a trap is written there, and
 * nobody may be about to copy it for a child that isn't.
 */
static void seize_everybody(struct tracee *tracee)
{
	uint64_t deadline = clock_now() + UNBORN_PATIENCE;

	while (unborn_await(tracee->space, deadline)) {
		seize_new_tasks(tracee->space);
		sharers_seize(tracee);
		if (clock_now() > deadline)
			break;
	}
}

/*
 * Whatever the process has run before it was bound, or runs later, only what is
 * bound is written to.
 */
static int look_at(struct tracee *tracee)
{
	struct space *space = tracee->space;
	int err;

	space_use_task(space, procfs_live_task(tracee->pid));
	err = space_bind(space);
	if (err)
		return err;
	if (!charge_has_room(space, 1, NULL))
		return -EDQUOT;
	seize_everybody(tracee);
	if (space->stranger)
		return -EBUSY;
	err = linkmap_start(space, false);
	if (err)
		return await_exec(space, tracee->pid, err);
	trap_plant_in_slices(space);
	return 0;
}

int attach(struct tracer *tracer, pid_t pid, char **message_ret)
{
	struct tracee *tracee;
	int err;

	*message_ret = attach_refuse(pid);
	if (*message_ret)
		return -EPERM;
	tracee = tracee_new(tracer, pid, space_new(tracer, pid));
	err = attach_seize(tracee);
	if (err) {
		*message_ret = err == -EBUSY ? tell_stranger(tracee) :
					       attach_explain(pid, err);
	} else {
		err = look_at(tracee);
		if (err)
			*message_ret = tell_unreadable(tracee, err);
	}
	/* What has a trap already is let go of like all others at the end. */
	if (err && err != -EDQUOT) {
		give_back(tracer, tracee);
	} else if (!err) {
		tell_if_frozen(pid);
	}
	loop_serve(tracer);
	return err;
}

void attach_begin(struct tracer *tracer)
{
	tracer->attaching = true;
}

void attach_end(struct tracer *tracer)
{
	tracer->attaching = false;
	syscall_watch_attached(tracer);
}
