/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SYSDEPS_SYSCALL_MAKER_H
#define CALLTRAP_SYSDEPS_SYSCALL_MAKER_H

#include "sysdeps/arch.h"

/*
 * How a stopped task of arch_native's is made to do a system call that its
 * program doesn't.
 */
struct syscall_maker {
	/* The instruction; its size is 0 where none of this is written. */
	uint8_t code[4];
	uint8_t size;
	uint8_t align; /* where it may stand: multiples of so many bytes */

	/* Registers for a call by such an instruction, at that address. */
	void (*prepare)(struct regs *regs, taddr_t address, uint64_t number,
			const uint64_t arguments[4]);

	/* Whether the task stands in a call of its own: it surely does. */
	bool (*is_in_call)(const struct regs *regs);

	/*
	 * Whether such a call goes on as if nothing had been, once all
	 * registers are what they were.
	 */
	bool (*goes_on)(const struct regs *regs);
};

extern const struct syscall_maker arch_syscall_maker;

#endif
