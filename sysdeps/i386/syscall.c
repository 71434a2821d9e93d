/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "sysdeps/i386/convention.h"
#include "sysdeps/x86/convention.h"
#include "sysdeps/x86/registers.h"
#include "sysdeps/x86/syscall.h"

/*
 * Six registers, whichever instruction the call is made with: the kernel
 * fetches what the vdso's sysenter and syscall put elsewhere before anybody
 * else looks (arch/x86/entry/common.c). A 64-bit number takes two, the low half
 * first.
 */

static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp, struct memory *memory,
		    const struct flat_value *value, bool variadic,
		    struct passed *ret)
{
	static const int8_t order[] = { X86_RBX, X86_RCX, X86_RDX,
					X86_RSI, X86_RDI, X86_RBP };
	unsigned words = value->size > sizeof(uint32_t) ? 2 : 1;
	uint64_t halves[2] = { 0 };

	(void)fp;
	(void)memory;
	(void)variadic;
	if (cursor->integers + words > ARRAY_SIZE(order))
		return -ENODATA;
	for (unsigned i = 0; i < words; i++)
		halves[i] = x86_register_get(regs, order[cursor->integers++],
					     sizeof(uint32_t));
	passed_in_registers(halves[0] | halves[1] << 32, 0, ret);
	return 0;
}

/* An error is negative, also to who takes it for a 64-bit number. */
static int result(const struct regs *entry, const struct regs *regs,
		  const struct fp_regs *fp, struct memory *memory,
		  const struct flat_value *value, struct passed *ret)
{
	(void)entry;
	(void)fp;
	(void)memory;
	(void)value;
	passed_in_registers(x86_sign_extend(regs->user.rax, sizeof(uint32_t)),
			    0, ret);
	return 0;
}

const struct convention i386_syscall_convention = {
	.begin = x86_syscall_begin,
	.argument = argument,
	.result = result,
	.needs_fp = x86_syscall_needs_fp,
	.variadic_needs_fp = x86_syscall_variadic_needs_fp,
};

uint64_t i386_syscall_number(const struct regs *regs)
{
	return (uint32_t)regs->user.orig_rax;
}
