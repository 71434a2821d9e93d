/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/syscall.h"

void x86_syscall_begin(const struct regs *regs, const struct flat_value *result,
		       struct argument_cursor *ret)
{
	(void)regs;
	(void)result;
	*ret = (struct argument_cursor){ 0 };
}

bool x86_syscall_needs_fp(const struct flat_value *value, bool as_result)
{
	(void)value;
	(void)as_result;
	return false;
}

bool x86_syscall_variadic_needs_fp(const struct regs *regs)
{
	(void)regs;
	return false;
}
