/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <asm/perf_regs.h>
#include <stddef.h>
#include <string.h>

#include "sysdeps/arch.h"

#define AT(name) offsetof(struct user_regs_struct, name)

/* In the order of the mask's bits. A 64-bit kernel gives the same ones of
   32-bit tasks. */
static const struct {
	uint8_t number;
	uint8_t offset;
} registers[ARCH_SAMPLE_REGISTERS] = {
	{ PERF_REG_X86_AX, AT(rax) },  { PERF_REG_X86_BX, AT(rbx) },
	{ PERF_REG_X86_CX, AT(rcx) },  { PERF_REG_X86_DX, AT(rdx) },
	{ PERF_REG_X86_SI, AT(rsi) },  { PERF_REG_X86_DI, AT(rdi) },
	{ PERF_REG_X86_BP, AT(rbp) },  { PERF_REG_X86_SP, AT(rsp) },
	{ PERF_REG_X86_IP, AT(rip) },  { PERF_REG_X86_FLAGS, AT(eflags) },
	{ PERF_REG_X86_CS, AT(cs) },   { PERF_REG_X86_R8, AT(r8) },
	{ PERF_REG_X86_R9, AT(r9) },   { PERF_REG_X86_R10, AT(r10) },
	{ PERF_REG_X86_R11, AT(r11) }, { PERF_REG_X86_R12, AT(r12) },
	{ PERF_REG_X86_R13, AT(r13) }, { PERF_REG_X86_R14, AT(r14) },
	{ PERF_REG_X86_R15, AT(r15) },
};

#define BITS(low, high) ((UINT64_C(2) << (high)) - (UINT64_C(1) << (low)))

const uint64_t arch_sample_registers = BITS(PERF_REG_X86_AX, PERF_REG_X86_CS) |
				       BITS(PERF_REG_X86_R8, PERF_REG_X86_R15);

void arch_regs_of_sample(const uint64_t values[ARCH_SAMPLE_REGISTERS],
			 struct regs *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < ARCH_SAMPLE_REGISTERS; i++)
		memcpy((char *)&ret->user + registers[i].offset, &values[i],
		       sizeof(values[i]));
}
