/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

/* What a tracer that was built for x86_64 can trace. */

const struct arch_ops *const arch_native = &arch_x86_64;

const struct arch_ops *const arch_ports[] = { &arch_x86_64, &arch_i386, NULL };

/*
 * The user code segments that Linux sets up, plain and as a Xen PV guest
 * (asm/segment.h, xen/interface/arch-x86). Programs may make others.
 */
const struct arch_ops *arch_of_regs(const struct regs *regs)
{
	switch (regs->user.cs) {
	case 0x33:
	case 0xe033:
		return &arch_x86_64;
	case 0x23:
	case 0xe023:
		return &arch_i386;
	default:
		return NULL;
	}
}
