/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVALUATE_H
#define CALLTRAP_EVALUATE_H

#include "tracee/space.h"

/*
 * What a small function would return to a task of the space with these
 * registers, and this memory. Its instructions are carried out on a copy of the
 * registers, and what it pushes goes to memory of ours: nothing runs in the
 * target, nothing is written there. argument: the only one that it is called
 * with; NULL: none. Returns -EOPNOTSUPP for a function that does more than a few
 * simple things, or another error when it can't be read.
 */
int evaluate_function(struct space *space, const struct regs *start,
		      struct memory *memory, taddr_t function,
		      const uint64_t *argument, uint64_t *ret) MUST_CHECK;

#endif
