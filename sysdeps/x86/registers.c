/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/registers.h"

#include <stddef.h>
#include <string.h>

#define AT(name) offsetof(struct user_regs_struct, name)

static const uint8_t offsets[16] = {
	AT(rax), AT(rcx), AT(rdx), AT(rbx), AT(rsp), AT(rbp), AT(rsi), AT(rdi),
	AT(r8),  AT(r9),  AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15),
};

/* The trailing registers are the second bytes of the first four. */
static size_t byte_offset(int number)
{
	return number < X86_AH ? offsets[number] :
				 offsets[number - X86_AH] + 1u;
}

uint64_t x86_register_get(const struct regs *regs, int number, unsigned size)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)&regs->user + byte_offset(number), size);
	return value;
}

void x86_register_set(struct regs *regs, int number, unsigned size,
		      uint64_t value)
{
	if (size == 4) {
		value = (uint32_t)value;
		size = 8;
	}
	memcpy((char *)&regs->user + byte_offset(number), &value, size);
}

void x86_syscall_set_result(struct regs *regs, int64_t result)
{
	regs->user.rax = (uint64_t)result;
}

bool x86_steps_itself(const struct regs *regs)
{
	enum { TRAP_FLAG = 0x100 };

	return regs->user.eflags & TRAP_FLAG;
}
