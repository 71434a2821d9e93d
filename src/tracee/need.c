/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/hit.h"
#include "tracee/leave.h"
#include "tracee/patch.h"
#include "tracee/syscall.h"
#include "tracee/trap.h"

/*
 * What leave.c does, when memory has run out or an invariant is broken, in the
 * middle of whatever was being done. So nothing is allocated, no handler is
 * called, and tables are read only.
 */

/* How long those are waited for that sleep: in a dead file system, for ever. */
#define NEED_PATIENCE (2 * NS_PER_SECOND)

/* From one look to the next; and when it takes long. */
#define MOMENT      (NS_PER_SECOND / 20000)
#define LONG_MOMENT (NS_PER_SECOND / 1000)

/* Those of events and of system calls are greater. */
#define GREATEST_SIGNAL_CODE SI_KERNEL

static bool is_trap(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP &&
	       info->si_code == arch_native->trap_code;
}

/*
 * Every trap is lifted. What the handling of this stop has changed so far is
 * kept; if it hasn't begun, the task goes back to where it ran into a trap.
 */
static bool write_registers(struct task *task)
{
	bool changed = task->regs_changed || task->ip_changed;

	if (!task->tracee)
		return false;
	if (!changed && task->put_back)
		return true;
	if (!changed) {
		task_forget_regs(task); /* their change may have begun */
		if (!hit_take_back(task))
			return false;
	}
	if (task->regs_changed)
		return !ptrace_set_regs(task->tid, &task->regs);
	return !ptrace_set_ip(task->tid,
			      task->tracee->space->arch->ip(&task->regs));
}

/*
 * Its stop was dealt with, registers and all, but it hasn't been resumed: if it
 * has been, what it stands in is a stop that nobody has fetched yet.
 */
static bool is_done(const struct task *task)
{
	siginfo_t info = { 0 };

	return task->resuming &&
	       !waitid(P_PID, task->tid, &info,
		       WSTOPPED | WNOHANG | WNOWAIT | __WALL) &&
	       !info.si_pid;
}

/* The signal of its stop, but for that of a trap of ours. */
static int signal_to_deliver(struct task *task)
{
	siginfo_t info;
	bool written;

	if (is_done(task))
		return task->deliver;
	written = write_registers(task);
	if (ptrace_get_siginfo(task->tid, &info) ||
	    info.si_code > GREATEST_SIGNAL_CODE || (written && is_trap(&info)))
		return 0;
	return info.si_signo;
}

/* It was about to wait, or did, when a stop of ours interrupted it. */
static void wait_again(struct task *task)
{
	struct regs regs;
	siginfo_t info;

	if (task->tracee && !ptrace_get_siginfo(task->tid, &info) &&
	    info.si_code == (SIGTRAP | PTRACE_EVENT_STOP << 8) &&
	    !ptrace_get_regs(task->tid, &regs) &&
	    syscall_wait_again(task->tid, task->tracee->space->arch, &regs,
			       0) &&
	    !ptrace_set_regs(task->tid, &regs))
		task_forget_regs(task);
}

/* Let go of there, it would end with EINTR: see can_be_let_go(), loop.c. */
static bool enters_system_call(const struct task *task)
{
	struct syscall_stop stop;

	return !ptrace_get_syscall(task->tid, &stop) && stop.entered;
}

static bool is_birth(const siginfo_t *info)
{
	return info->si_code == (SIGTRAP | PTRACE_EVENT_FORK << 8) ||
	       info->si_code == (SIGTRAP | PTRACE_EVENT_VFORK << 8) ||
	       info->si_code == (SIGTRAP | PTRACE_EVENT_CLONE << 8);
}

/* It is traced by us, and has yet to run. */
static bool is_unknown(struct tracer *tracer, pid_t tid)
{
	const struct task *task = task_find(tracer, tid);
	siginfo_t info;

	return (!task || !task->tracee || task->newborn) &&
	       !waitid(P_PID, tid, &info,
		       WSTOPPED | WNOHANG | WNOWAIT | __WALL);
}

/* What it stands to tell of has copies of the traps that were there then. */
static void clean_child(struct tracer *tracer, struct task *parent)
{
	struct procmem memory;
	unsigned long child;
	siginfo_t info;

	if (!parent->tracee || ptrace_get_siginfo(parent->tid, &info) ||
	    !is_birth(&info) || ptrace_get_event_message(parent->tid, &child) ||
	    !is_unknown(tracer, child))
		return;
	procmem_init(&memory, child);
	procmem_know_mounts(&memory);
	trap_clean_copy_in_need(parent->tracee->space, &memory);
	procmem_fini(&memory);
}

/*
 * A trap that it has run, but not told of yet, must be waited for. Once it is
 * let go of, the guardian would only stop it once more.
 */
static void let_go(struct tracer *tracer, struct task *task)
{
	int signal = signal_to_deliver(task);
	bool enters = enters_system_call(task) && !ptrace_interrupt(task->tid);

	clean_child(tracer, task);
	wait_again(task);
	task->stopped = false;
	task->leaving = enters || ptrace_has_queued_trap(task->tid);
	if (task->leaving) {
		(void)ptrace_continue(task->tid, signal);
		return;
	}
	if (!ptrace_detach(task->tid, signal))
		guardian_drop_task(tracer->guardian, task->watch);
}

/*
 * Programs that we have started end with us. A child whose parent hasn't told of
 * it yet is held until then: it stands still for as long as we live.
 */
static void ask_to_leave(struct tracer *tracer, struct task *task)
{
	if (!task->tracee || task->tracee->started)
		return;
	if (task->stopped)
		let_go(tracer, task);
	else
		task->leaving = !task->in_vfork && !task->listening &&
				!leave_can_spare(task) &&
				!ptrace_interrupt(task->tid);
}

/* The most of them counts. */
enum awaited {
	AWAITED_NONE,
	AWAITED_SLEEPER,
	AWAITED_RUNNER, /* it stops as soon as it has a processor */
};

/*
 * Whether it has stopped is asked of the task: its status may be one that was
 * just fetched when this began, and of which nothing was noted yet. Its state comes
 * first: who stops between the two would be taken for one that sleeps.
 */
static enum awaited look_after(struct tracer *tracer, struct task *task)
{
	siginfo_t info;
	char state;

	if (!task->leaving)
		return AWAITED_NONE;
	state = procfs_state(task->tid);
	if (!ptrace_get_siginfo(task->tid, &info)) {
		task_forget_regs(task);
		let_go(tracer, task);
		return task->leaving ? AWAITED_RUNNER : AWAITED_NONE;
	}
	if (!state || state == 'Z' || state == 'X') {
		task->leaving = false;
		return AWAITED_NONE;
	}
	return state == 'R' ? AWAITED_RUNNER : AWAITED_SLEEPER;
}

static enum awaited look_after_all(struct tracer *tracer)
{
	struct task *task, *next;
	enum awaited most = AWAITED_NONE;

	HASH_ITER(hh, tracer->tasks, task, next) {
		const enum awaited one = look_after(tracer, task);

		if (one > most)
			most = one;
	}
	return most;
}

/*
 * Who runs may have run into a trap, and would die of that without us: so it is
 * waited for without end. Who sleeps hasn't, or is frozen: the guardian has all
 * the time for those.
 */
static bool wait_for_all(struct tracer *tracer)
{
	const uint64_t deadline = clock_now() + NEED_PATIENCE;
	struct timespec moment = { .tv_nsec = MOMENT };
	enum awaited awaited;

	while ((awaited = look_after_all(tracer)) != AWAITED_NONE) {
		const bool late = clock_now() > deadline;

		if (late && awaited == AWAITED_SLEEPER)
			return false;
		if (late)
			moment.tv_nsec = LONG_MOMENT;
		nanosleep(&moment, NULL);
	}
	return true;
}

/*
 * Whether anybody needs the jumps still can't be found out now, nor what mounts
 * there are.
 */
static void prepare_spaces(struct tracer *tracer)
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, tracer->tracees, tracee, next) {
		patch_keep_serving(tracee->space);
		procmem_know_mounts(&tracee->space->memory);
	}
}

void leave_in_need(struct tracer *tracer)
{
	struct task *task, *next;

	prepare_spaces(tracer);
	leave_lift_traps(tracer);
	HASH_ITER(hh, tracer->tasks, task, next)
		ask_to_leave(tracer, task);
	if (!wait_for_all(tracer))
		return;
	/* Those that were spared: they sleep, and have met no trap. */
	HASH_ITER(hh, tracer->tasks, task, next)
		guardian_drop_task(tracer->guardian, task->watch);
}
