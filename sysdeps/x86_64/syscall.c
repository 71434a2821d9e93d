/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "sysdeps/x86/convention.h"
#include "sysdeps/x86/registers.h"
#include "sysdeps/x86/syscall.h"
#include "sysdeps/x86_64/convention.h"

/* System V ABI, AMD64 supplement, A.2.1: six integers, all in registers. */

static int argument(struct argument_cursor *cursor, const struct regs *regs,
		    const struct fp_regs *fp, struct memory *memory,
		    const struct flat_value *value, bool variadic,
		    struct passed *ret)
{
	static const int8_t order[] = { X86_RDI, X86_RSI, X86_RDX, 10, 8, 9 };

	(void)fp;
	(void)memory;
	(void)value;
	(void)variadic;
	if (cursor->integers >= ARRAY_SIZE(order))
		return -ENODATA;
	passed_in_registers(x86_register_get(regs, order[cursor->integers++],
					     sizeof(uint64_t)),
			    0, ret);
	return 0;
}

static int result(const struct regs *entry, const struct regs *regs,
		  const struct fp_regs *fp, struct memory *memory,
		  const struct flat_value *value, struct passed *ret)
{
	(void)entry;
	(void)fp;
	(void)memory;
	(void)value;
	passed_in_registers(regs->user.rax, 0, ret);
	return 0;
}

const struct convention x86_64_syscall_convention = {
	.begin = x86_syscall_begin,
	.argument = argument,
	.result = result,
	.needs_fp = x86_syscall_needs_fp,
	.variadic_needs_fp = x86_syscall_variadic_needs_fp,
};

uint64_t x86_64_syscall_number(const struct regs *regs)
{
	return regs->user.orig_rax;
}
