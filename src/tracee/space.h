/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SPACE_H
#define CALLTRAP_SPACE_H

#include "sysdeps/arch.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/charge.h"
#include "tracee/linkmap.h"
#include "tracee/module.h"
#include "tracee/scratch.h"
#include "tracee/trap.h"

struct tracer;

#define SPACE_MARK 512

/* Return addresses for which something else stands on stacks. */
struct replaced_returns {
	taddr_t place; /* … this */
	/* For which; 0: nobody knows. */
	taddr_t (*original)(struct replaced_returns *replaced, taddr_t slot);
	/* In a copy of the memory that nobody has run in yet. */
	void (*put_back)(struct replaced_returns *replaced,
			 struct memory *copy);
};

/*
 * Frames of ours, between a caller and the function that it has called: which returns
 * to one of these addresses, and so far above its stack pointer then lies the caller's
 * return address.
 */
#define OWN_FRAMES 5

struct own_frames {
	taddr_t returns[OWN_FRAMES]; /* 0: no more */
	unsigned size;
};

/*
 * An address space. Tracees share one after vfork and clone(CLONE_VM): what
 * belongs to memory belongs here, never to a task.
 */
struct space {
	struct tracer *tracer;
	unsigned references; /* tracees */
	struct procmem memory;
	uint8_t mark[SPACE_MARK]; /* of the program: see space_bind() */
	size_t mark_size;
	taddr_t random; /* where the kernel gave it random bytes; 0: nowhere */
	const struct arch_ops *arch; /* of the program */
	pid_t stranger;     /* it runs in the memory, and can't be ours; or 0 */
	struct trap *traps; /* by address */
	struct scratch scratch;
	struct charge charge;   /* the pages that we have written to */
	struct module *modules; /* in the order of the link map */
	struct linkmap linkmap;
	int guard; /* its number with the guardian, or -1 */
	bool guard_asked;
	bool has_patches;      /* a trap is one, or has been */
	bool defers_traps;     /* see trap_defer() */
	struct trap *deferred; /* those that are still to be planted */
	bool plants;           /* see trap_plant_in_slices() */
	bool untended; /* who hits a trap is to be shown to sources: nobody
			  handles traps there should we be killed */
	struct trap_page *pages; /* that traps were written to */
	bool shadow_stack;       /* these two: see passing.c */
	bool shadow_stack_known;
	struct replaced_returns *replaced; /* NULL: none */
	struct own_frames own_frames;
	taddr_t awaited; /* see space_await(); 0: nobody waits */
	int awaited_note;
	void *client; /* of the tracer's client */
};

/* What lies at the slot, or the return address for which that stands. */
static inline taddr_t space_true_return(const struct space *space, taddr_t slot,
					taddr_t address)
{
	taddr_t original;

	if (!space->replaced || address != space->replaced->place)
		return address;
	original = space->replaced->original(space->replaced, slot);
	return original ? original : address;
}

static inline bool space_is_own_frame(const struct space *space,
				      taddr_t address)
{
	unsigned i;

	for (i = 0; i < OWN_FRAMES && space->own_frames.returns[i]; i++)
		if (space->own_frames.returns[i] == address)
			return true;
	return false;
}

/* pid: any live task of it. */
struct space *space_new(struct tracer *tracer, pid_t pid);
struct space *space_get(struct space *space);
void space_put(struct space *space);

/*
 * Opens the memory, and remembers which program it is: from now on code is
 * read and written in this very address space, whatever its process runs later.
 * To be called before anything is read that decides what will be written.
 * Returns -ERR_GONE, -EMFILE when too few descriptors are left, or why it can't
 * be opened; then nothing is open.
 */
int space_bind(struct space *space) MUST_CHECK;

/*
 * Whether its process runs another program than when it was bound, or is about
 * to: what was read since may be of either. An exec stop is to come.
 */
bool space_is_left(struct space *space);

/*
 * Its process runs another program, so nobody knows any more what stands in the
 * old one. Was it bound too late, it is the new one: traps and copies are taken
 * out of it, as nobody has run into them yet. Where others share the old one,
 * all stays.
 */
void space_clean_after_exec(struct space *space);

/*
 * Who runs into a trap of ours there without us waits for it to be lifted, as long as
 * that word isn't 0 (the agent's handler of SIGTRAP); also in a child, which has a copy.
 * The guardian makes it 0 when calltrap has been killed and no trap is left.
 */
void space_await(struct space *space, taddr_t word);

/* From now on an int3 is the program's own. */
void space_await_none(struct space *space);

/*
 * While anybody waits there an int3 that goes on to the program has this in its
 * si_errno, where the kernel has 0: it is the program's own, and needs no waiting.
 */
#define SPACE_TRAP_SEEN 0x63616c6c

/*
 * Which task the kernel is asked about the space from now on: one that is
 * alive, as any task in a stop is.
 */
void space_use_task(struct space *space, pid_t tid);

/* The task is about to be forgotten: another one is asked, if there is any. */
void space_lose_task(struct space *space, pid_t tid);

/* Its number with the guardian, which hears of it now; or -1. */
int space_guard(struct space *space);

#endif
