/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TRAP_H
#define CALLTRAP_TRAP_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/types.h"
#include "sysdeps/arch.h"

struct patch;
struct space;
struct task;
struct trap_owner;

struct trap_owner_ops {
	/*
	 * A task stands on the trap; its ip has been set back to the
	 * instruction. The owner may remove itself here, no other owner of
	 * this trap. It may set the ip to code that leads back to the trap,
	 * which is then hit once more.
	 */
	void (*hit)(struct trap_owner *owner, struct task *task);
};

/* Embedded as first member of whatever wants to know of hits. */
struct trap_owner {
	const struct trap_owner_ops *ops;
	struct trap_owner *next;
};

/*
 * A trap instruction at an address of a space. A trap without owners is no
 * longer in the code, but is remembered: a process that forked before may have
 * a copy.
 */
struct trap {
	taddr_t address;
	unsigned planting; /* how often it was planted */
	bool planted;
	bool deferred;            /* to be planted later: it is in … */
	struct trap *prev, *next; /* … the space's list of these */
	int note;                 /* the guardian's, while it is planted */
	bool hit;                 /* ever */
	uint64_t seen;            /* when it was planted or hit last */
	uint32_t original;        /* what arch_ops' trap has replaced */
	struct insn insn;         /* what it stands on */
	struct patch *patch;      /* that stands, or has stood, here */
	taddr_t copy;             /* relocated insn in scratch; 0 = none */
	bool copy_failed;         /* don't try again */
	struct trap_owner *owners;
	UT_hash_handle hh;
};

/*
 * Adds an owner; the first one puts the trap into the code, while its tasks
 * may run. -EEXIST when there is one that isn't ours, -EILSEQ when there
 * is no instruction, -EIO when the memory can't be written or is gone.
 */
int trap_plant(struct space *space, taddr_t address,
	       struct trap_owner *owner) MUST_CHECK;

/*
 * Between these two nothing is written: every decision is taken first, and the
 * bytes are written all at once, so that no task waits at a trap while files
 * are read. What can't be written is counted.
 */
void trap_defer(struct space *space);
void trap_plant_deferred(struct space *space);

/*
 * The same of very many, for a process that runs meanwhile: nothing is written
 * yet, but by trap_plant_slice(), which plants some, until a time (monotonic),
 * or a few if it is later. Returns whether there are more; those who wait at a
 * trap are to go on before it is called again.
 */
void trap_plant_in_slices(struct space *space);
bool trap_plant_slice(struct space *space, uint64_t until);

/* How many pages of code have become the process's own for its traps. */
size_t trap_pages(const struct space *space);

/*
 * Code that somebody else has changed, at an address where there was n bytes of
 * original: from now on that is a trap of ours without an owner, as if it had
 * been planted, to be lifted. NULL when there is one already.
 */
struct trap *trap_adopt(struct space *space, taddr_t address,
			const uint8_t *original, size_t n);

/* The one at an address is needed now. */
int trap_plant_now(struct space *space, taddr_t address) MUST_CHECK;

/* Removes an owner; with the last one the original code comes back. */
void trap_unplant(struct space *space, taddr_t address,
		  struct trap_owner *owner);

struct trap *trap_find(struct space *space, taddr_t address);

/*
 * Puts back all original code; owners stay, but nothing is hit any more. What
 * was still to be planted never will be.
 */
void trap_lift_all(struct space *space);

/* Whether the code in [low, high) still has one of its traps. */
bool trap_stands_in(struct space *space, taddr_t low, taddr_t high);

/*
 * The mapping [low, high) is gone: forgets its traps without writing, as
 * something else may live there by now.
 */
void trap_forget_range(struct space *space, taddr_t low, taddr_t high);

/*
 * Removes the copies of a space's traps from a child that was forked from it, by
 * that task (0: nobody knows), and has not run yet. Returns -ERR_GONE when the
 * child has died, -EDQUOT when their cgroup hasn't the memory for it (charge.h),
 * or why its memory can't be opened or written.
 */
struct procmem;
int trap_clean_copy(struct space *space, struct procmem *child,
		    pid_t forker) MUST_CHECK;

/* The same without a descriptor: it is traced, and has stopped. */
int trap_clean_stopped_copy(struct space *space,
			    struct procmem *child) MUST_CHECK;

/* The same without memory of ours: see leave_in_need(). */
void trap_clean_copy_in_need(struct space *space, struct procmem *child);

/*
 * The child's copies can't be removed (its memory can't be written): it knows
 * them, so that it passes them, unseen by anybody.
 */
void trap_inherit(struct space *child, struct space *parent);

void trap_free_all(struct space *space);

/* Lifts the trap, or puts it back: for stepping in place. */
int trap_set_planted(struct space *space, struct trap *trap, bool planted);

/*
 * Replaces, in n bytes of code that were read at address, our traps by what
 * they hide, but for one that reaches beyond them.
 */
void trap_hide(struct space *space, taddr_t address, uint8_t *code, size_t n);

#endif
