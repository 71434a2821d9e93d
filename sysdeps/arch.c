/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

const struct arch_ops *arch_of_elf(unsigned machine, unsigned elf_class)
{
	for (size_t i = 0; arch_ports[i]; i++)
		if (arch_ports[i]->elf_machine == machine &&
		    arch_ports[i]->elf_class == elf_class)
			return arch_ports[i];
	return NULL;
}
