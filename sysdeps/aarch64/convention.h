/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_CONVENTION_H
#define CALLTRAP_AARCH64_CONVENTION_H

#include "sysdeps/arch.h"

extern const struct convention aarch64_convention;
extern const struct convention aarch64_syscall_convention;

/* x8; what a debugger has changed there isn't seen. */
uint64_t aarch64_syscall_number(const struct regs *regs);

#endif
