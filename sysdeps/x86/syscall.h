/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_SYSCALL_H
#define CALLTRAP_X86_SYSCALL_H

#include "sysdeps/arch.h"

/* What the system calls of both machines share: all are integers. */

void x86_syscall_begin(const struct regs *regs, const struct flat_value *result,
		       struct argument_cursor *ret);
bool x86_syscall_needs_fp(const struct flat_value *value, bool as_result);
bool x86_syscall_variadic_needs_fp(const struct regs *regs);

/* See arch_ops' wait_from_start(); these calls may end so. */
bool x86_syscall_wait_from_start(struct regs *regs, const uint16_t *calls,
				 size_t count);

#endif
