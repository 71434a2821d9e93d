/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/syscall.h>

#include "base/diag.h"
#include "sysdeps/linux/rseq.h"
#include "sysdeps/x86_64/agent/layout.h"
#include "tracee/syscall.h"

/*
 * Getting in by a task that an interrupt has found between two instructions of its
 * program. What it is sent through needs nobody, as ever; that it has come so far is
 * seen where that makes a system call.
 */

#define MOST_ERRORS 4096

/* Of these two the program would be told of what isn't its own. */
#define TF_FLAG (1u << 8)
#define AC_FLAG (1u << 18)

/* It is to be made again, by the kernel or by us; any other call is over. */
static bool is_in_call(const struct regs *regs)
{
	const int64_t result = (int64_t)regs->user.rax;

	return (int64_t)regs->user.orig_rax >= 0 &&
	       (result == -EINTR || (result < 0 && result > -MOST_ERRORS &&
				     syscall_restarts((int)-result)));
}

/* Nor in code of the kernel's, of an earlier agent, or that nobody knows. */
static bool is_in_module(struct agent *agent, const struct regs *regs)
{
	return module_find(agent->space, regs->user.rip) != NULL;
}

/* Which may be otherwise in a moment. */
static bool can_be_sent_now(struct task *task, const struct regs *regs)
{
	return !is_in_call(regs) &&
	       !(regs->user.eflags & (TF_FLAG | AC_FLAG)) &&
	       !ptrace_has_queued_trap(task->tid) &&
	       !rseq_is_entered(task->tid);
}

static bool can_be_sent(struct agent *agent, struct task *task,
			const struct regs *regs)
{
	return arch_of_regs(regs) == agent->space->arch &&
	       (regs->user.fs_base || agent->net_alone) &&
	       is_in_module(agent, regs) &&
	       !agent_why_not_by_status(agent, task);
}

enum agent_sent agent_send(struct agent *agent, struct task *task)
{
	const struct regs *regs = task_regs(task);
	const char *reason;

	if (agent->state != AGENT_OUTSIDE || !regs ||
	    !can_be_sent_now(task, regs))
		return AGENT_NOT_NOW;
	if (!can_be_sent(agent, task, regs))
		return AGENT_NOT_THIS;
	reason = agent_why_no_entry(agent, task);
	if (reason) {
		(void)agent_refuse(agent, reason);
		return AGENT_NOT_THIS;
	}
	agent->at_once = true;
	diag_debug(DIAG_TRAP, "agent: thread %d is sent from %#" PRIx64,
		   (int)task->tid, (uint64_t)regs->user.rip);
	return agent_set_out(agent, task) ? AGENT_SENT : AGENT_NOT_THIS;
}

/*
 * The frame of a handler is written below the red zone. So who is met above that has
 * left it, unless it is on another stack, which seldom is so near. Who is met below may
 * be in the handler still, but not for ever. (It may come back yet: what it comes back
 * to needs nobody, and stays.)
 */
#define RED_ZONE     128
#define NEAR         (64 << 10)
#define MOST_FOREIGN 100

bool agent_is_astray(struct agent *agent, taddr_t sp)
{
	if (sp - (agent->sp - RED_ZONE) >= NEAR &&
	    ++agent->foreign < MOST_FOREIGN)
		return false;
	diag_debug(DIAG_TRAP, "agent: thread %d isn't on its way any more",
		   (int)agent->tid);
	if (agent->state == AGENT_RESERVING) {
		scratch_abandon_guest(agent->space);
		(void)agent_give_up(agent, AGENT_NO_RETURN);
		return true;
	}
	/* Another one in boot would close its descriptor, and so would it, once it
	   comes back: by then that may be the program's. */
	agent_call_off(agent);
	(void)agent_refuse(agent, AGENT_NO_RETURN);
	return true;
}

/*
 * At the end of its errand's call it is put back to where it was, and sent to boot
 * from there. If we are killed before, the errand has an end of its own.
 */
static void leave_errand(struct agent *agent, struct task *task, int64_t result)
{
	struct space *space = agent->space;

	task->regs = space->scratch.guest.regs;
	task->regs_known = true;
	if (result == (int64_t)agent->base)
		(void)agent_start_image(agent, task);
	else if (result == -EEXIST) /* by now: elsewhere is room */
		(void)agent_give_up(agent, "it can't have more memory");
	else
		(void)agent_refuse(agent, "it can't have more memory");
	task->ip_changed = false;
	if (!ptrace_set_regs(task->tid, &task->regs))
		scratch_end_guest(space);
}

/* Those that an earlier one has left go by a trap, when some are there. */
static void close_others(struct agent *agent, int64_t own)
{
	if (!agent_left_any(agent, own)) {
		(void)agent_is_inside(agent);
		return;
	}
	agent->state = AGENT_CLOSING;
	agent->at_once = false;
	agent->tid = 0;
}

/* It may get in as into a forked child. */
static void end_alone(struct agent *agent)
{
	agent->state = AGENT_OUTSIDE;
	agent->net_alone = false;
	diag_debug(DIAG_TRAP, "agent: process %d handles traps",
		   (int)agent->space->memory.pid);
}

/* Boot closes what it has opened, or -1: that is the last thing that it does. What it
   couldn't map it has closed before. */
static void pass_close(struct agent *agent, struct task *task)
{
	const struct regs *regs = task_regs(task);
	struct agent_gate gate;

	if (!regs)
		return;
	if (!agent_read_gate(agent, &gate))
		gate.booted = 0;
	if (!gate.booted)
		gate.boot_result = -1;
	if (gate.boot_result < 0 && (int64_t)regs->user.rdi >= 0)
		return;
	if (agent->net_alone && gate.booted)
		end_alone(agent);
	else if (gate.boot_result >= 0 &&
		 agent_open_shared(agent, gate.boot_result))
		close_others(agent, gate.boot_result);
	else
		(void)agent_refuse(agent, "no memory can be shared with it");
}

static bool is_in_agent(const struct agent *agent, taddr_t ip)
{
	return ip - agent->base < AGENT_STUBS_OFFSET;
}

static bool is_ours(const struct agent *agent, taddr_t ip)
{
	return scratch_is_guest(agent->space, ip) || is_in_agent(agent, ip);
}

/* The descriptor that a call of boot's is for; or NULL. */
static unsigned long long *descriptor_of(const struct syscall_stop *stop,
					 struct task *task)
{
	switch (stop->number) {
	case SYS_ftruncate:
	case SYS_close:
		return &task->regs.user.rdi;
	case SYS_mmap:
		return &task->regs.user.r8;
	default:
		return NULL;
	}
}

/*
 * As it stands here the program has all the time to close that (closefrom), and to
 * open another file by its number.
 */
static void guard_descriptor(struct agent *agent, struct task *task,
			     const struct syscall_stop *stop)
{
	unsigned long long *number =
		task_regs(task) ? descriptor_of(stop, task) : NULL;

	if (!number || (int)*number < 0 ||
	    agent_has_opened(agent, (int)*number))
		return;
	diag_debug(DIAG_TRAP, "agent: descriptor %d isn't its own any more",
		   (int)*number);
	*number = (unsigned long long)-1;
	/* It fails where the task is killed. */
	if (ptrace_set_regs(task->tid, &task->regs))
		task->regs_known = false;
}

bool agent_pass_call(struct agent *agent, struct task *task,
		     const struct syscall_stop *stop)
{
	if (!agent->at_once || task->tid != agent->tid ||
	    !agent_is_on_the_way(agent))
		return false;
	if (agent->space->tracer->leaving)
		return true;
	if (stop->entered)
		agent->reserves = scratch_is_guest(agent->space, stop->ip);
	if (stop->entered && is_in_agent(agent, stop->ip))
		guard_descriptor(agent, task, stop);
	/* A handler's return leads there as well. */
	if (agent->state == AGENT_RESERVING && !stop->entered &&
	    agent->reserves && scratch_is_guest(agent->space, stop->ip))
		leave_errand(agent, task, stop->result);
	else if (agent->state == AGENT_MAPPING && stop->entered &&
		 stop->number == SYS_close && is_in_agent(agent, stop->ip))
		pass_close(agent, task);
	else if (stop->entered && stop->number != SYS_rt_sigreturn &&
		 !is_ours(agent, stop->ip) && task_regs(task))
		(void)agent_is_astray(agent,
				      agent->space->arch->sp(&task->regs));
	return true;
}
