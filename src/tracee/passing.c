/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/passing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/diag.h"
#include "sysdeps/linux/ptrace.h"

/* Every signal but those that the instruction itself may raise. */
#define ASYNCHRONOUS_SIGNALS                                                  \
	(~(1ull << (SIGTRAP - 1) | 1ull << (SIGSEGV - 1) |                    \
	   1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1)))

static bool emulate(struct task *task, struct trap *trap, struct regs *regs)
{
	struct space *space = task->tracee->space;

	return trap->insn.emulable &&
	       !space->arch->insn_emulate(&trap->insn, regs,
					  &space->memory.memory);
}

static void take_emulated(struct task *task, const struct regs *regs)
{
	task->regs = *regs;
	task->regs_changed = true;
	task->tracee->space->tracer->counts.emulated++;
}

static bool moves_only_ip(const struct arch_ops *arch,
			  const struct regs *before, const struct regs *after)
{
	struct regs moved = *before;

	arch->set_ip(&moved, arch->ip(after));
	return !memcmp(&moved, after, sizeof(moved));
}

static bool pass_by_copy(struct task *task, struct trap *trap)
{
	struct space *space = task->tracee->space;
	taddr_t copy;

	if (trap->insn.way == INSN_STEP)
		return false;
	copy = scratch_copy_of(space, trap);
	if (!copy)
		return false;
	space->arch->set_ip(&task->regs, copy);
	space->tracer->counts.copied++;
	return true;
}

/* waitpid() for one task; signals of our own don't count. */
static bool wait_for(pid_t tid, int *status_ret)
{
	pid_t got;

	do
		got = waitpid(tid, status_ret, __WALL);
	while (got < 0 && errno == EINTR);
	return got == tid;
}

/* Whether a task is running in this space, and can be made to stop. */
static bool must_stop(const struct task *task, const struct task *stepped)
{
	return task != stepped && task->tracee && !task->stopped &&
	       task->tracee->space == stepped->tracee->space;
}

/*
 * Stops one other task and keeps what it stopped for, to be handled in turn.
 * A parent that waits for its vfork child can't be stopped; nor can it run.
 */
static void stop_and_keep(struct task *task)
{
	int status;

	if (task->in_vfork || ptrace_interrupt(task->tid))
		return;
	if (!wait_for(task->tid, &status))
		return;
	task->stopped = true;
	task->stop_waits = true;
	tracer_queue_stop(task->tracee->space->tracer, task->tid, status);
}

static void stop_others(struct task *stepped)
{
	struct tracer *tracer = stepped->tracee->space->tracer;
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (must_stop(task, stepped))
			stop_and_keep(task);
}

/* Returns once the instruction has run, or the task has died. */
static void step_once(struct task *task)
{
	uint64_t mask;
	int status;

	if (ptrace_set_regs(task->tid, &task->regs) ||
	    ptrace_get_signal_mask(task->tid, &mask))
		return;
	ptrace_set_signal_mask(task->tid, mask | ASYNCHRONOUS_SIGNALS);
	if (!ptrace_step(task->tid, 0) &&
	    wait_for(task->tid, &status) &&
	    !(WIFSTOPPED(status) && status >> 8 == SIGTRAP)) {
		/* It raised a signal, forked, or died: that is yet to come. */
		task->stop_waits = true;
		tracer_queue_stop(task->tracee->space->tracer, task->tid,
				  status);
	}
	task_forget_regs(task);
	ptrace_set_signal_mask(task->tid, mask);
}

/*
 * The last resort (syscall instructions, no scratch left). Tasks that were
 * stopped for it go on when their kept stops are handled.
 */
static void pass_by_stepping(struct task *task, struct trap *trap)
{
	struct space *space = task->tracee->space;

	diag_debug(DIAG_TRAP, "stepping past %#" PRIx64, trap->address);
	space->tracer->counts.stepped++;
	stop_others(task);
	if (trap_set_planted(space, trap, false))
		return;
	step_once(task);
	(void)trap_set_planted(space, trap, true);
}

/*
 * Writing all registers costs four times as much as writing the ip alone, so
 * emulation is the cheapest where it changes nothing else (nops, jumps), and a
 * copy where it does. Only what can't be copied writes memory when emulated
 * here (a call), so nothing is done twice.
 */
void trap_pass(struct task *task, struct trap *trap)
{
	const struct arch_ops *arch = task->tracee->space->arch;
	struct regs regs = task->regs;
	bool emulated = trap->insn.way == INSN_EMULATE &&
			emulate(task, trap, &regs);

	if (emulated && moves_only_ip(arch, &task->regs, &regs)) {
		arch->set_ip(&task->regs, arch->ip(&regs));
		task->tracee->space->tracer->counts.emulated++;
		return;
	}
	if (pass_by_copy(task, trap))
		return;
	if (emulated || emulate(task, trap, &regs))
		take_emulated(task, &regs);
	else
		pass_by_stepping(task, trap);
}

static void remember_visit(struct task *task, taddr_t address, taddr_t sp)
{
	if (task->visit_count == TASK_VISITS) {
		memmove(&task->visits[0], &task->visits[1],
			sizeof(task->visits[0]) * (TASK_VISITS - 1));
		task->visit_count--;
	}
	task->visits[task->visit_count++] = (struct visit){ address, sp };
}

bool task_take_visit(struct task *task, taddr_t address, taddr_t sp)
{
	struct visit *last = &task->visits[task->visit_count];

	if (!task->visit_count)
		return false;
	last--;
	if (last->address != address || last->sp != sp)
		return false;
	task->visit_count--;
	return true;
}

void task_forget_visits(struct task *task, taddr_t sp)
{
	while (task->visit_count &&
	       task->visits[task->visit_count - 1].sp < sp)
		task->visit_count--;
}

void task_leave_scratch(struct task *task)
{
	struct space *space = task->tracee->space;
	struct regs *regs = task_regs(task);
	taddr_t ip;
	bool done;

	if (!regs ||
	    !scratch_resolve_ip(space, space->arch->ip(regs), &ip, &done))
		return;
	space->arch->set_ip(regs, ip);
	task->ip_changed = true;
	if (!done)
		remember_visit(task, ip, space->arch->sp(regs));
}
