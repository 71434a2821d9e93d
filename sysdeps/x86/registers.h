/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_REGISTERS_H
#define CALLTRAP_X86_REGISTERS_H

#include "sysdeps/arch.h"

/* The general registers as instructions number them: rax 0 … r15 15. */
enum {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_AH = 16, /* then ch, dh, bh */
	X86_REGISTERS = 20,
};

/* Truncates to size bytes: 1, 2, 4 or 8. */
static inline uint64_t x86_truncate(uint64_t value, unsigned size)
{
	return value & (~UINT64_C(0) >> (64 - 8 * size));
}

static inline uint64_t x86_sign_extend(uint64_t value, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* The low size bytes of a register. */
uint64_t x86_register_get(const struct regs *regs, int number, unsigned size);

/* 1 or 2 bytes leave the others alone, 4 clear the upper half. */
void x86_register_set(struct regs *regs, int number, unsigned size,
		      uint64_t value);

/* By the trap flag. */
bool x86_steps_itself(const struct regs *regs);

/* Of a system call, of either mode. */
void x86_syscall_set_result(struct regs *regs, int64_t result);

#endif
