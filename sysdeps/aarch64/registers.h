/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_REGISTERS_H
#define CALLTRAP_AARCH64_REGISTERS_H

#include "sysdeps/arch.h"

#define AARCH64_NUMBER 8 /* of a system call */
#define AARCH64_FP     29
#define AARCH64_LINK   30
#define AARCH64_ZERO   31 /* in most instructions; in others it is sp */

/* ERESTART_RESTARTBLOCK, include/linux/errno.h; no header of programs has it. */
#define AARCH64_RESTARTBLOCK 516

/*
 * PSTATE.BTYPE: how the task has come where it is; in guarded pages only some
 * instructions may stand there after an indirect jump. Who is sent elsewhere,
 * or past an instruction, has come by no jump.
 */
#define AARCH64_BTYPE UINT64_C(0xc00)

/* PSTATE of a task that runs 32-bit code. */
#define AARCH64_MODE32 UINT64_C(0x10)

/*
 * An address of the program's with something in its upper byte, of which the
 * processor makes nothing: for pc, too, it is taken away when the kernel lets the
 * task go on (Documentation/arm64/tagged-pointers.rst).
 */
#define AARCH64_TAG (UINT64_C(0xff) << 56)

static inline uint64_t aarch64_register_get(const struct regs *regs,
					    unsigned number)
{
	return number == AARCH64_ZERO ? 0 : regs->user.regs[number];
}

static inline void aarch64_register_set(struct regs *regs, unsigned number,
					uint64_t value)
{
	if (number != AARCH64_ZERO)
		regs->user.regs[number] = value;
}

static inline void aarch64_go(struct regs *regs, taddr_t address)
{
	regs->user.pc = address;
	regs->user.pstate &= ~AARCH64_BTYPE;
}

#endif
