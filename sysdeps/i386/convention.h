/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_I386_CONVENTION_H
#define CALLTRAP_I386_CONVENTION_H

#include "sysdeps/arch.h"

extern const struct convention i386_convention;
extern const struct convention i386_syscall_convention;

uint64_t i386_syscall_number(const struct regs *regs);

#endif
