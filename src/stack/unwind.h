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

/* As far as it can be followed, for unwind_last() alone: nothing is counted. */
void unwind_look(struct unwinder *unwinder, struct space *space,
		 struct memory *memory, pid_t tid, const struct regs *regs,
		 unsigned depth);

/*
 * The stack as it was when it was copied, with the registers of then; cut where
 * the copy ends.
 */
stack_id unwind_copy(struct unwinder *unwinder, struct space *space, pid_t tid,
		     const struct regs *regs, struct stack_copy *copy,
		     unsigned depth);

/*
 * A stack whose frames are known: what each returns to, the caller's first.
 * complete: there were no others. What is no code any more ends it as
 * STACK_BROKEN.
 */
struct unwind_seen {
	stack_id stack;
	unsigned depth;
	unsigned by_pointer; /* so many frames by frame pointers */
	enum stack_end end;
};

struct unwind_seen unwind_addresses(struct unwinder *unwinder,
				    struct space *space,
				    const taddr_t *addresses, unsigned count,
				    bool complete);

/* It is met once more: that is counted. Returns .stack. */
stack_id unwind_again(struct unwinder *unwinder,
		      const struct unwind_seen *seen);

/*
 * How a frame's caller is found, where nothing but the stack and frame pointers
 * is needed for it; by the address that the frame returns to.
 */
struct unwind_rule {
	bool outermost; /* there is none; the rest means nothing */
	bool by_chain; /* no tables: at the frame pointer lies the caller's, and
			    above it the return address; nor does the rest */
	bool may_switch; /* … and these may lie on another stack */
	bool by_fp;      /* offset is counted from the frame pointer, … */
	bool in_memory;  /* … and the frame's end is what lies there */
	bool fp_saved;   /* the caller's frame pointer lies at fp_offset … */
	bool fp_unknown; /* … from the frame's end, or nobody knows it */
	int32_t offset;
	int32_t fp_offset;
};

bool unwind_rule(struct unwinder *unwinder, struct space *space,
		 taddr_t address, struct unwind_rule *ret);

/*
 * The same for all of a module's code, made a part at a time: by its tables alone, as far
 * as these are plain. The first span begins with the module; they are for addresses of
 * instructions, so for those of calls and not for where they return to.
 */
struct unwind_span {
	uint32_t offset; /* in the module */
	uint32_t rule;   /* among the table's; 0: none */
};

struct unwind_table {
	const struct unwind_span *spans;
	size_t span_count;
	const struct unwind_rule *rules; /* the first one means nothing */
	size_t rule_count;
};

struct unwind_tabler;

/* NULL when there is nothing, for so many spans at most; the module may go meanwhile. */
struct unwind_tabler *unwind_tabler_new(const struct module *module,
					size_t most) MUST_CHECK;
void unwind_tabler_free(struct unwind_tabler *tabler);

/* Whether its table would be the module's. */
bool unwind_tabler_is_of(const struct unwind_tabler *tabler,
			 const struct module *module);

/* Some milliseconds' work; false when it is done. */
bool unwind_tabler_go_on(struct unwind_tabler *tabler);

/* Then. False: it has too many. Good as long as the tabler. */
bool unwind_tabler_table(const struct unwind_tabler *tabler,
			 struct unwind_table *ret);

/* It is done, and is kept for its table alone: what that takes, bytes. */
size_t unwind_tabler_settle(struct unwind_tabler *tabler);

/*
 * All such addresses of the stack that was taken last, at an entry; forgotten
 * by unwind_last_forget().
 */
unsigned unwind_last(const struct unwinder *unwinder, const taddr_t **ret);
void unwind_last_forget(struct unwinder *unwinder);

/* The first frame of it that lies on another stack than it began on; or 0. */
taddr_t unwind_last_switch(const struct unwinder *unwinder);

/* Where the data of the goroutine lie that has called C's functions there; or 0. */
taddr_t unwind_last_goroutine(const struct unwinder *unwinder);

struct unwind_counts {
	uint64_t stacks;
	uint64_t cut;
	uint64_t broken;
	uint64_t frames[FRAME_GUESSED + 1]; /* by method */
};

struct unwind_counts unwind_counts(const struct unwinder *unwinder);

#endif
