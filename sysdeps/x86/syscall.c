/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/syscall.h"

#include "sysdeps/x86/registers.h"

/* include/linux/errno.h; no header of programs has it. */
#define ERESTART_RESTARTBLOCK 516

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

bool x86_syscall_wait_from_start(struct regs *regs, const uint16_t *calls,
				 size_t count)
{
	const uint64_t call = regs->user.orig_rax;
	size_t i = 0;

	while (i < count && call != calls[i])
		i++;
	if (i == count || (int32_t)regs->user.rax != -ERESTART_RESTARTBLOCK)
		return false;
	regs->user.rax = call;
	regs->user.rip -= 2; /* as where restart_wait() makes a call again */
	return true;
}
