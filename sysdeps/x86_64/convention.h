/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_64_CONVENTION_H
#define CALLTRAP_X86_64_CONVENTION_H

#include "sysdeps/arch.h"

extern const struct convention x86_64_convention;
extern const struct convention x86_64_syscall_convention;

uint64_t x86_64_syscall_number(const struct regs *regs);

#endif
