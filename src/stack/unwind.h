/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_UNWIND_H
#define CALLTRAP_UNWIND_H

#include "stack/stack_copy.h"
#include "stack/stacks.h"
#include "tracee/space.h"

/* Takes the stacks of stopped tasks. */
struct unwinder;

#define UNWIND_DEPTH_MAX 1024

struct unwinder *unwinder_new(struct stacks *stacks) MUST_CHECK;
void unwinder_free(struct unwinder *unwinder);

/* Modules of the space have come or gone; or (forget) the space itself. */
void unwinder_flush(struct unwinder *unwinder, struct space *space);
void unwinder_forget(struct unwinder *unwinder, struct space *space);

/*
 * The stack of a task with these registers, at most depth frames; memory is
 * that of the space, as it was when they were read.
 * at_entry: it stands at a function's first instruction, so the caller is
 * known for sure (the return address lies where arch_ops' return_slot says).
 * Traps that stand in the code don't matter. Never fails: a stack that can't
 * be followed ends as STACK_BROKEN, and that is counted.
 */
stack_id unwind(struct unwinder *unwinder, struct space *space,
		struct memory *memory, pid_t tid, const struct regs *regs,
		unsigned depth, bool at_entry);

/*
 * The stack as it was when it was copied, with the registers of then; cut where
 * the copy ends.
 */
stack_id unwind_copy(struct unwinder *unwinder, struct space *space, pid_t tid,
		     const struct regs *regs, struct stack_copy *copy,
		     unsigned depth);

struct unwind_counts {
	uint64_t stacks;
	uint64_t cut;
	uint64_t broken;
	uint64_t frames[FRAME_GUESSED + 1]; /* by method */
};

struct unwind_counts unwind_counts(const struct unwinder *unwinder);

#endif
