/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/registers.h"

/* What a tracer that was built for arm64 can trace: no 32-bit programs. */

const struct arch_ops *const arch_native = &arch_aarch64;

const struct arch_ops *const arch_ports[] = { &arch_aarch64, NULL };

const struct arch_ops *arch_of_regs(const struct regs *regs)
{
	return regs->user.pstate & AARCH64_MODE32 ? NULL : &arch_aarch64;
}
