/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CLONE_H
#define CALLTRAP_CLONE_H

#include <stdbool.h>

#include "sysdeps/arch.h"

/* What the child that a system call makes shares with its parent. */
struct clone_sharing {
	bool thread; /* the process */
	bool memory; /* the address space */
	bool stack;  /* it begins on the same one, in the same frames */
};

/*
 * Of a task that is inside fork, vfork, clone or clone3 (a ptrace event stop).
 * False when it is in none of these, or its arguments can't be read.
 */
bool clone_sharing_of(const struct regs *regs, struct memory *memory,
		      struct clone_sharing *ret);

/* Whether a system call of that number makes a child, in any mode. */
bool clone_is_call(long number);

#endif
