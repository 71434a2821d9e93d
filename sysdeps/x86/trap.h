/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_TRAP_H
#define CALLTRAP_X86_TRAP_H

#include "sysdeps/arch.h"

#define X86_INT3 0xcc

/* arch_ops' is_behind_trap. */
bool x86_is_behind_int3(struct memory *memory, taddr_t ip);

#endif
