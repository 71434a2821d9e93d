/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/passing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/signal_bit.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/patch.h"

static bool emulate(struct task *task, struct trap *trap, struct regs *regs)
{
	struct space *space = task->tracee->space;

	return trap->insn.emulable &&
	       !space->arch->insn_emulate(&trap->insn, regs,
					  &space->memory.memory);
}

/* leave_in_need() may come in the middle: half of them must not count. */
static void take_emulated(struct task *task, const struct regs *regs)
{
	task_forget_regs(task);
	atomic_signal_fence(memory_order_seq_cst);
	task->regs = *regs;
	atomic_signal_fence(memory_order_seq_cst);
	task->regs_changed = true;
	task->regs_known = true;
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

/* Stops come at once; but a task may hang in a dead file system. */
#define STEP_PATIENCE NS_PER_SECOND

/*
 * Waits for a status of one task, and keeps all that come: the one of a leader
 * that has exited, for instance, comes after those of its threads only.
 */
static bool await(struct tracer *tracer, struct task *task)
{
	const struct timespec moment = { .tv_nsec = 20000 };
	uint64_t deadline = clock_now() + STEP_PATIENCE;

	while (!task->queued) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid > 0)
			tracer_queue_stop(tracer, tid, status);
		else if (clock_now() > deadline)
			return false;
		else
			nanosleep(&moment, NULL);
	}
	return true;
}

/* Whether a task is running in this space, and can be made to stop. */
static bool must_stop(const struct task *task, const struct task *stepped)
{
	return task != stepped && task->tracee && !task->stopped &&
	       task->tracee->space == stepped->tracee->space;
}

/*
 * Stops one other task and keeps what it stopped for, to be handled in turn.
 * A parent that waits for its vfork child can't be stopped, nor a thread that
 * has exited; neither can they run.
 */
static void stop_and_keep(struct tracer *tracer, struct task *task)
{
	struct procfs_status status;

	if (task->in_vfork || procfs_status(task->tid, &status) ||
	    status.state == 'Z' || !task_ask_to_stop(task))
		return;
	if (!await(tracer, task))
		diag_debug(DIAG_TRAP, "%d doesn't stop", (int)task->tid);
}

static void stop_others(struct task *stepped)
{
	struct tracer *tracer = stepped->tracee->space->tracer;
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next)
		if (must_stop(task, stepped))
			stop_and_keep(tracer, task);
}

/*
 * Returns once the instruction has run, or something else has happened that is
 * then in the queue: it raised a signal, or the task has died.
 */
static void step_once(struct tracer *tracer, struct task *task)
{
	uint64_t mask;

	if (ptrace_set_regs(task->tid, &task->regs) ||
	    ptrace_get_signal_mask(task->tid, &mask))
		return;
	ptrace_set_signal_mask(task->tid, mask | ~SIGNALS_OF_INSTRUCTIONS);
	if (!ptrace_step(task->tid, 0) && await(tracer, task))
		tracer_unqueue_step(tracer, task);
	task_forget_regs(task);
	ptrace_set_signal_mask(task->tid, mask);
}

/*
 * The last resort, when no scratch is left. (What can be neither moved nor
 * emulated is never trapped.) Tasks that were stopped for it go on when their
 * kept stops are handled.
 */
static void pass_by_stepping(struct task *task, struct trap *trap)
{
	struct space *space = task->tracee->space;

	diag_debug(DIAG_TRAP, "stepping past %#" PRIx64, trap->address);
	space->tracer->counts.stepped++;
	stop_others(task);
	if (trap_set_planted(space, trap, false))
		return;
	step_once(space->tracer, task);
	(void)trap_set_planted(space, trap, true);
}

/*
 * The dynamic linker turns shadow stacks on while it starts a program: that
 * there is none yet doesn't count. This is asked in need only, which is at
 * calls and returns.
 */
static bool has_shadow_stack(const struct task *task)
{
	struct space *space = task->tracee->space;
	struct procfs_status status;

	if (space->shadow_stack_known)
		return space->shadow_stack;
	space->shadow_stack = !procfs_status(task->tid, &status) &&
			      status.shadow_stack;
	space->shadow_stack_known = space->shadow_stack ||
				    space->linkmap.complete;
	if (space->shadow_stack)
		diag(DIAG_NOTE, DIAG_TRAP,
		     "process %d has shadow stacks: each trap on a call or "
		     "return instruction stops all of its threads",
		     (int)task->tracee->pid);
	return space->shadow_stack;
}

/*
 * The program gets a SIGTRAP for each of its instructions (the trap flag), and
 * the kernel sends none for those that we ran in its place.
 */
static void tell_step(struct task *task)
{
	struct tracer *tracer = task->tracee->space->tracer;
	const struct regs *regs = task_regs(task);
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_TRACE };
	taddr_t ip = regs ? task->tracee->space->arch->ip(regs) : task->place;

	if (ip == task->place)
		return;
	info.si_addr = (void *)(uintptr_t)ip;
	if (ptrace_set_siginfo(task->tid, &info))
		return;
	task->deliver = SIGTRAP;
	tracer->client->ops->signal(tracer->client, task, SIGTRAP);
}

/* No copy: a handler would see steps that are none of the program's. */
static void pass_stepped(struct task *task, struct trap *trap)
{
	struct regs regs = task->regs;

	if (!(trap->insn.pushes_or_pops_return && has_shadow_stack(task)) &&
	    emulate(task, trap, &regs))
		take_emulated(task, &regs);
	else
		pass_by_stepping(task, trap);
	tell_step(task);
}

/*
 * Writing all registers costs four times as much as writing the ip alone, so
 * emulation is the cheapest where it changes nothing else (nops, jumps), and a
 * copy where it does. Only what can't be copied writes memory when emulated
 * here (a call), so nothing is done twice. With a shadow stack only the
 * processor can do calls and returns.
 */
void trap_pass(struct task *task, struct trap *trap)
{
	const struct arch_ops *arch = task->tracee->space->arch;
	struct regs regs = task->regs;
	bool emulated;

	if (arch->steps_itself(&regs)) {
		pass_stepped(task, trap);
		return;
	}
	if (trap->insn.pushes_or_pops_return && has_shadow_stack(task)) {
		pass_by_stepping(task, trap);
		return;
	}
	emulated = trap->insn.way == INSN_EMULATE && emulate(task, trap, &regs);
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

static unsigned planting_of(struct task *task, taddr_t address)
{
	const struct trap *trap = trap_find(task->tracee->space, address);

	return trap ? trap->planting : 0;
}

static void remember_visit(struct task *task, taddr_t address, taddr_t sp)
{
	if (task->visit_count == TASK_VISITS) {
		memmove(&task->visits[0], &task->visits[1],
			sizeof(task->visits[0]) * (TASK_VISITS - 1));
		task->visit_count--;
	}
	task->visits[task->visit_count++] =
		(struct visit){ address, sp, planting_of(task, address) };
}

/*
 * Where the trap was lifted the task went on without hitting it again, or what
 * it hits there now is the next call.
 */
static void drop_visits_of_lifted(struct task *task)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < task->visit_count; i++) {
		const struct visit visit = task->visits[i];
		const struct trap *trap =
			trap_find(task->tracee->space, visit.address);

		if (trap && trap->planted && trap->planting == visit.planting)
			task->visits[kept++] = visit;
	}
	task->visit_count = kept;
}

/* What was remembered later is of handlers that have ended by then. */
bool task_take_visit(struct task *task, taddr_t address, taddr_t sp)
{
	drop_visits_of_lifted(task);
	for (unsigned i = task->visit_count; i-- > 0;) {
		const struct visit *visit = &task->visits[i];

		if (visit->address == address && visit->sp == sp) {
			task->visit_count = i;
			return true;
		}
	}
	return false;
}

void task_forget_visits(struct task *task, taddr_t sp)
{
	while (task->visit_count && task->visits[task->visit_count - 1].sp < sp)
		task->visit_count--;
}

void task_leave_scratch(struct task *task)
{
	struct space *space = task->tracee->space;
	struct regs *regs = task_regs(task);
	const struct trap *trap;
	taddr_t ip;
	bool done;

	if (!regs ||
	    !scratch_resolve_ip(space, space->arch->ip(regs), &ip, &done))
		return;
	trap = done ? NULL : trap_find(space, ip);
	if (trap && patch_stands(trap)) {
		/* It was told of: not again by the jump. */
		ip = trap->patch->places[0];
		done = true;
	}
	space->arch->set_ip(regs, ip);
	task->ip_changed = true;
	if (!done)
		remember_visit(task, ip, space->arch->sp(regs));
}

void task_leave_guest(struct task *task)
{
	struct space *space = task->tracee->space;
	struct scratch_guest *guest = &space->scratch.guest;
	struct regs *regs;

	if (!guest->place || guest->tid != task->tid)
		return;
	regs = task_regs(task);
	if (!regs)
		return;
	if (scratch_is_guest(space, space->arch->ip(regs))) {
		*regs = guest->regs;
		task->regs_changed = true;
		guest->left = true;
	} else if (space->arch->ip(regs) == space->arch->ip(&guest->regs) &&
		   space->arch->sp(regs) == space->arch->sp(&guest->regs)) {
		guest->left = true;
	}
}
