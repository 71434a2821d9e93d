/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/hit.h"

#include <inttypes.h>

#include "base/diag.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/passing.h"

/* si_code of a SIGTRAP by int3: do_int3(), arch/x86/kernel/traps.c. */
#define INT3_CODE SI_KERNEL

static bool caused_by_int3(struct task *task)
{
	siginfo_t info;

	return !ptrace_get_siginfo(task->tid, &info) &&
	       info.si_code == INT3_CODE;
}

/*
 * Behind a one-byte instruction the program may just stand there, and a
 * SIGTRAP be sent to it by somebody; behind the first byte of a longer one it
 * can't but by the int3.
 */
static bool is_hit(struct task *task, const struct trap *trap)
{
	return trap && trap->planted &&
	       (trap->insn.length > 1 || caused_by_int3(task));
}

/*
 * No trap is here any more. When the code shows no int3 either, it was one of
 * ours when the task ran into it: the task goes back and runs what is there
 * now. (int3 has a second form, CD 03.)
 */
static bool is_late_hit(struct task *task, taddr_t ip)
{
	struct space *space = task->tracee->space;
	uint8_t code[2] = { 0 };

	if (!caused_by_int3(task) ||
	    memory_read(&space->memory.memory, ip - 2, code, sizeof(code)))
		return false;
	return code[1] != space->arch->trap_byte &&
	       !(code[0] == 0xcd && code[1] == 0x03);
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

	trap->hit = true;
	trap->seen = task->stop_time;
	space->arch->set_ip(&task->regs, address);
	task->ip_changed = true;
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

	if (!regs)
		return false;
	ip = space->arch->ip(regs);
	if (!is_late_hit(task, ip))
		return false;
	diag_debug(DIAG_TRAP, "%d: late hit at %#" PRIx64, (int)task->tid,
		   ip - 1);
	space->arch->set_ip(regs, ip - 1);
	task->ip_changed = true;
	return true;
}

bool hit_handle(struct task *task)
{
	struct space *space = task->tracee->space;
	struct regs *regs = task_regs(task);
	struct trap *trap;
	taddr_t ip;

	if (!regs)
		return true; /* it is dying */
	ip = space->arch->ip(regs);
	trap = trap_find(space, ip - 1);
	if (is_hit(task, trap)) {
		visit(task, trap);
		return true;
	}
	return hit_take_back(task);
}
