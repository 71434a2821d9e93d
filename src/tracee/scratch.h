/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRATCH_H
#define CALLTRAP_SCRATCH_H

#include <stdbool.h>

#include "base/types.h"
#include "sysdeps/arch.h"

struct procmem;
struct space;
struct trap;

/*
 * Relocated copies of instructions, in the unused ends of the last pages of
 * executable segments: executable already, near the code, and no system call
 * has to be injected for them. A copy ends in a jump back, so any number of
 * tasks may run it at once, and none has to be stepped.
 *
 *	... code of the module | copy | copy | copy | free ... | end of page
 *	                       ^ end of segment's file part
 */
struct scratch {
	struct scratch_area *areas;
	size_t area_count;
	size_t area_room;
	struct scratch_copy *copies; /* by address of the copy */
	taddr_t *free;               /* places of copies that are gone */
	size_t free_count;
	size_t free_room;
	uint64_t kept; /* for what is to be taken later; no copy takes that */
	taddr_t kept_place; /* of that size, taken once and given back */
};

/* Adds the slack of a module's image. */
void scratch_add_area(struct space *space, taddr_t address, uint64_t size);
void scratch_forget_range(struct space *space, taddr_t low, taddr_t high);

/*
 * The address of a copy of the trap's instruction, made when there is none
 * yet; 0 when it can't be had.
 */
taddr_t scratch_copy_of(struct space *space, struct trap *trap);

/*
 * For an ip inside a copy: sets *ip_ret to the place in the original code
 * that it stands for and returns true. *done_ret tells whether the
 * instruction has run (else the ip is that of the trap).
 */
bool scratch_resolve_ip(struct space *space, taddr_t ip, taddr_t *ip_ret,
			bool *done_ret);

/*
 * Puts back, in a child that was forked from the space and has not run yet,
 * the bytes that were there before.
 */
void scratch_clean_copy(struct space *space, struct procmem *child);

/* The child has the parent's copies in its memory, and keeps them. */
void scratch_inherit(struct space *child, const struct space *parent);

/* The bytes that were there before, in the space itself. No task may be inside. */
void scratch_restore(struct space *space);
/* The copy of a trap that is about to go. */
void scratch_release(struct space *space, struct trap *trap);

/*
 * Room for other code. Returns 0 when there is none; else it is the caller's
 * to give back, with the bytes that were there before.
 */
taddr_t scratch_take(struct space *space, uint64_t size);

/* From now on copies leave room for that, where there is some. 0: no longer. */
void scratch_keep(struct space *space, uint64_t size);
void scratch_give_back(struct space *space, taddr_t place, uint64_t size);

void scratch_free(struct space *space);

#endif
