/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <signal.h>
#include <string.h>

#include "sysdeps/linux/ptrace.h"

static bool is_in_image(const struct agent *agent, taddr_t address)
{
	return address - agent->base < AGENT_CODE_SIZE;
}

static bool is_at_clock(struct agent *agent, taddr_t ip)
{
	static const uint8_t rdtsc[2] = { 0x0f, 0x31 };
	uint8_t code[2];

	return agent->state == AGENT_INSIDE && is_in_image(agent, ip) &&
	       agent_read(agent, ip, code, sizeof(code)) &&
	       !memcmp(code, rdtsc, sizeof(code));
}

static bool is_at_peek(struct agent *agent, taddr_t ip)
{
	static const uint8_t byte[] = { 0x0f, 0xb6, 0x01 };
	static const uint8_t word[] = { 0x48, 0x8b, 0x01 };
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x80 };
	uint8_t code[AGENT_PEEK_SIZE];
	uint32_t mark;

	if (!is_in_image(agent, ip) ||
	    !agent_read(agent, ip, code, sizeof(code)))
		return false;
	memcpy(&mark, &code[sizeof(byte) + sizeof(nop)], sizeof(mark));
	return mark == AGENT_PEEK_MARK &&
	       !memcmp(&code[sizeof(byte)], nop, sizeof(nop)) &&
	       (!memcmp(code, byte, sizeof(byte)) ||
		!memcmp(code, word, sizeof(word)));
}

/* Raised by the processor, and sent by nobody. */
static bool is_raised(const struct task *task, bool by_address)
{
	siginfo_t info;

	if (ptrace_get_siginfo(task->tid, &info))
		return false;
	return by_address ? info.si_code > 0 && info.si_code < SI_KERNEL :
			    info.si_code == SI_KERNEL;
}

bool agent_miss(struct agent *agent, struct task *task)
{
	struct regs *regs = task_regs(task);

	if (!regs || !agent->base || !is_at_peek(agent, regs->user.rip) ||
	    !is_raised(task, true))
		return false;
	if (agent->shared.memory)
		shared_forget_readable(&agent->shared);
	regs->user.rcx = 0;
	regs->user.rip += AGENT_PEEK_SIZE;
	task->regs_changed = true;
	return true;
}

bool agent_fault(struct agent *agent, struct task *task)
{
	struct regs *regs = task_regs(task);
	const uint64_t now = ticks_now();

	if (!regs || !is_at_clock(agent, regs->user.rip) ||
	    !is_raised(task, false))
		return false;
	regs->user.rax = (uint32_t)now;
	regs->user.rdx = now >> 32;
	regs->user.rip += 2;
	task->regs_changed = true;
	agent->reason = "its threads may not read the time stamp counter";
	return true;
}
