/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/hit.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/passing.h"
#include "tracee/patch.h"

static bool caused_by_trap(struct task *task)
{
	siginfo_t info;

	return !ptrace_get_siginfo(task->tid, &info) &&
	       info.si_code == task->tracee->space->arch->trap_code;
}

/*
 * Where a hit leaves the ip behind the trap: the program may just stand behind
 * an instruction that is as short, and a SIGTRAP be sent to it by somebody;
 * in the middle of a longer one it can't stand but by the trap.
 */
static bool stands_within(const struct arch_ops *arch, const struct trap *trap)
{
	return arch->trap_behind && trap->insn.length > arch->trap_behind;
}

static bool is_hit(struct task *task, const struct trap *trap)
{
	return trap && trap->planted &&
	       (stands_within(task->tracee->space->arch, trap) ||
		caused_by_trap(task));
}

/*
 * No trap is here any more. When the code shows none of anybody's either, it
 * was one of ours when the task ran into it: the task goes back and runs what
 * is there now.
 */
static bool is_late_hit(struct task *task, taddr_t ip)
{
	struct space *space = task->tracee->space;

	return caused_by_trap(task) &&
	       !space->arch->is_behind_trap(&space->memory.memory, ip);
}

void hit_put_back(struct task *task)
{
	const struct arch_ops *arch = task->tracee->space->arch;
	const struct regs *regs;
	taddr_t address;

	task_forget_regs(task);
	regs = arch->trap_behind ? task_regs(task) : NULL;
	if (!regs)
		return;
	address = arch->ip(regs) - arch->trap_behind;
	if (!is_hit(task, trap_find(task->tracee->space, address)))
		return;
	/* leave_in_need() may come behind each of these lines. */
	arch->set_ip(&task->regs, address);
	atomic_signal_fence(memory_order_seq_cst);
	task->ip_changed = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (ptrace_set_ip(task->tid, address)) {
		task_forget_regs(task);
		return;
	}
	task->put_back = true;
	atomic_signal_fence(memory_order_seq_cst);
	task->ip_changed = false;
}

static void tell_owners(struct trap *trap, struct task *task)
{
	struct trap_owner *owner, *next;

	for (owner = trap->owners; owner; owner = next) {
		next = owner->next;
		owner->ops->hit(owner, task);
	}
}

static void visit(struct task *task, struct trap *trap)
{
	struct space *space = task->tracee->space;
	taddr_t address = trap->address;

	/* A jump by now, which it had come too early for. */
	if (patch_stands(trap)) {
		space->arch->set_ip(&task->regs, trap->patch->target);
		task->ip_changed = true;
		return;
	}
	trap->hit = true;
	trap->seen = task->stop_time;
	space->arch->set_ip(&task->regs, address);
	task->ip_changed = true;
	if (space->untended && !task->errant && !space->tracer->leaving &&
	    sources_trap(space->tracer, task)) {
		task->errant = true;
		return;
	}
	task->place = address;
	if (!task_take_visit(task, address, space->arch->sp(&task->regs)))
		tell_owners(trap, task);
	/* An owner may have sent it elsewhere: it comes back. */
	if (space->arch->ip(&task->regs) != address)
		return;
	/* One that left may have taken the trap with it. */
	trap = trap_find(space, address);
	if (trap && trap->planted)
		trap_pass(task, trap);
}

bool hit_take_back(struct task *task)
{
	struct space *space = task->tracee->space;
	struct regs *regs = task_regs(task);
	taddr_t ip;

	if (task->put_back)
		return true;
	if (!regs)
		return false;
	ip = space->arch->ip(regs);
	if (!is_late_hit(task, ip))
		return false;
	ip -= space->arch->trap_behind;
	diag_debug(DIAG_TRAP, "%d: late hit at %#" PRIx64, (int)task->tid, ip);
	space->arch->set_ip(regs, ip);
	task->ip_changed = true;
	return true;
}

/* It may have been lifted since: then the task runs what is there now. */
static void visit_again(struct task *task)
{
	struct space *space = task->tracee->space;
	struct trap *trap = trap_find(space, space->arch->ip(&task->regs));

	if (trap && trap->planted)
		visit(task, trap);
}

bool hit_handle(struct task *task)
{
	struct space *space = task->tracee->space;
	struct regs *regs = task_regs(task);
	struct trap *trap;
	taddr_t ip;

	if (!regs)
		return true; /* it is dying */
	if (task->put_back) {
		visit_again(task);
		return true;
	}
	ip = space->arch->ip(regs);
	trap = trap_find(space, ip - space->arch->trap_behind);
	if (is_hit(task, trap)) {
		visit(task, trap);
		return true;
	}
	return hit_take_back(task) || patch_catch(task, SIGTRAP);
}
