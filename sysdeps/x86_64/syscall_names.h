/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_64_SYSCALL_NAMES_H
#define CALLTRAP_X86_64_SYSCALL_NAMES_H

/*
 * By number, as asm/unistd_64.h had them when calltrap was built; NULL in the
 * gaps.
 */
extern const char *const x86_64_syscall_names[];
extern const unsigned x86_64_syscall_names_count;

#endif
