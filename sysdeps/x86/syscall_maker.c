/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/syscall_maker.h"

/* Else the kernel might take its result for one of a call to be restarted. */
#define NO_CALL ((uint64_t)-1)

static void prepare(struct regs *regs, taddr_t address, uint64_t number,
		    const uint64_t arguments[4])
{
	regs->user.rip = address;
	regs->user.rax = number;
	regs->user.orig_rax = NO_CALL;
	regs->user.rdi = arguments[0];
	regs->user.rsi = arguments[1];
	regs->user.rdx = arguments[2];
	regs->user.r10 = arguments[3];
}

static bool is_in_call(const struct regs *regs)
{
	return (int64_t)regs->user.orig_rax >= 0;
}

/* The kernel makes calls again when all is put back, by what is in rax. */
static bool goes_on(const struct regs *regs UNUSED)
{
	return true;
}

const struct syscall_maker arch_syscall_maker = {
	.code = { 0x0f, 0x05 },
	.size = 2,
	.align = 1,
	.prepare = prepare,
	.is_in_call = is_in_call,
	.goes_on = goes_on,
};
