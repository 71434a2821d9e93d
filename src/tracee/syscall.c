/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/syscall.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "sysdeps/linux/procfs.h"

/* include/linux/errno.h; no header of programs has them. */
enum {
	ERESTARTSYS = 512,
	ERESTARTNOINTR,
	ERESTARTNOHAND,
	ENOIOCTLCMD,
	ERESTART_RESTARTBLOCK,
};

bool syscall_restarts(int error)
{
	return error >= ERESTARTSYS && error <= ERESTART_RESTARTBLOCK &&
	       error != ENOIOCTLCMD;
}

bool syscall_is_cut_short(const struct syscall_stop *stop)
{
	return stop->failed &&
	       (stop->result == -EINTR || syscall_restarts((int)-stop->result));
}

bool syscall_is_watched(const struct tracer *tracer, const struct task *task)
{
	return tracer->system_calls && !tracer->attaching && !tracer->leaving &&
	       task->tracee && !task->tracee->muted;
}

bool syscall_stops_at(const struct tracer *tracer, const struct task *task)
{
	return (task->errant && !tracer->leaving) ||
	       syscall_is_watched(tracer, task);
}

/*
 * The kernel goes on with some waits by restart_syscall(), which the program
 * has never made, and which a filter may forbid: that kills it, or ends the
 * wait. The call that it has made is allowed.
 */
bool syscall_wait_again(pid_t tid, const struct arch_ops *arch,
			struct regs *regs, uint64_t own)
{
	struct regs again = *regs;

	if (!arch->restart_wait(&again) &&
	    !(arch->wait_from_start && arch->wait_from_start(&again) &&
	      procfs_is_filtered(tid)))
		return false;
	if (procfs_signal_waits(tid, own))
		return false;
	*regs = again;
	return true;
}

bool syscall_go_on_waiting(pid_t tid, uint64_t own)
{
	const struct arch_ops *arch;
	struct regs regs;

	if (ptrace_get_regs(tid, &regs))
		return false;
	arch = arch_of_regs(&regs);
	return !arch || !syscall_wait_again(tid, arch, &regs, own) ||
	       !ptrace_set_regs(tid, &regs);
}

bool syscall_restart_wait(struct task *task, const struct arch_ops *arch)
{
	struct regs *regs = task_regs(task);

	if (!regs || !syscall_wait_again(task->tid, arch, regs, 0))
		return false;
	task->regs_changed = true;
	return true;
}

/*
 * The stop that was asked for is this one, which has ended the call. (What the
 * kernel restarts by itself is left to it.)
 */
static bool will_be_made_again(struct task *task,
			       const struct syscall_stop *stop)
{
	if (!task->asked || !syscall_is_cut_short(stop))
		return false;
	return syscall_restart_wait(task, stop->arch) ||
	       (stop->result != -EINTR && !procfs_signal_waits(task->tid, 0));
}

static void give_up(struct tracer *tracer, int err)
{
	if (err == -ERR_GONE || err == -ENODATA)
		return;
	tracer->system_calls = false;
	diag(DIAG_WARNING, DIAG_SESSION,
	     "system calls can't be shown: %s (it takes Linux 5.3 or newer)",
	     strerror(-err));
}

/* Nobody watches them all. */
static void handle_errant(struct tracer *tracer, struct task *task)
{
	struct syscall_stop stop;

	if (ptrace_get_syscall(task->tid, &stop)) {
		task->errant = false;
		return;
	}
	task->entering = stop.entered;
	task->errant = sources_system_call(tracer, task, &stop);
	if (!task->errant && !tracer->leaving &&
	    task->tracee->space->defers_traps)
		trap_plant_deferred(task->tracee->space);
	if (!stop.entered)
		(void)will_be_made_again(task, &stop);
}

bool syscall_handle(struct tracer *tracer, struct task *task)
{
	const struct tracer_client_ops *ops = tracer->client->ops;
	struct syscall_stop stop;
	int err;

	if (task->errant) {
		handle_errant(tracer, task);
		return true;
	}
	err = ptrace_get_syscall(task->tid, &stop);
	if (err) {
		give_up(tracer, err);
		return err != -ENODATA;
	}
	if (!stop.entered) {
		bool again = will_be_made_again(task, &stop);

		ops->syscall_returned(tracer->client, task, &stop, again);
		return true;
	}
	task->entering = true;
	if (!tracer->leaving)
		ops->syscall_entered(tracer->client, task, &stop);
	return true;
}

void syscall_watch_attached(struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (syscall_is_watched(tracer, task) && !task->stopped)
			(void)task_ask_to_stop(task);
}
