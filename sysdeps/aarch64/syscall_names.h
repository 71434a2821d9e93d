/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_SYSCALL_NAMES_H
#define CALLTRAP_AARCH64_SYSCALL_NAMES_H

/*
 * By number, as asm/unistd.h had them when calltrap was built; NULL in the
 * gaps.
 */
extern const char *const aarch64_syscall_names[];
extern const unsigned aarch64_syscall_names_count;

#endif
