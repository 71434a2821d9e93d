/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <asm/perf_regs.h>
#include <string.h>

#include "sysdeps/arch.h"

const uint64_t arch_sample_registers = (UINT64_C(2) << PERF_REG_ARM64_PC) - 1;

/* In the order of the mask's bits: x0 to x30, the stack pointer, pc. */
void arch_regs_of_sample(const uint64_t values[ARCH_SAMPLE_REGISTERS],
			 struct regs *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->user.regs, values, sizeof(ret->user.regs));
	ret->user.sp = values[PERF_REG_ARM64_SP];
	ret->user.pc = values[PERF_REG_ARM64_PC];
}
