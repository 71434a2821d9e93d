/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_I386_SYSCALL_NAMES_H
#define CALLTRAP_I386_SYSCALL_NAMES_H

/*
 * By number, as asm/unistd_32.h had them when calltrap was built; NULL in the
 * gaps.
 */
extern const char *const i386_syscall_names[];
extern const unsigned i386_syscall_names_count;

#endif
