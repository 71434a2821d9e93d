/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

static const struct arch_ops *const ports[] = { &arch_x86_64, &arch_i386 };

const struct arch_ops *arch_of_elf(unsigned machine, unsigned elf_class)
{
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		if (ports[i]->elf_machine == machine &&
		    ports[i]->elf_class == elf_class)
			return ports[i];
	return NULL;
}

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
