/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRATCH_H
#define CALLTRAP_SCRATCH_H

#include <stdbool.h>

#include "base/types.h"
#include "sysdeps/arch.h"

struct procmem;
struct space;
struct task;
struct trap;

#define SCRATCH_GUEST_MAX 256

/*
 * At the end of code that a task is sent to: who finds it where another one's
 * should have been taken out must leave it there. A task may still be in it.
 */
#define SCRATCH_GUEST_MARK 0x5cd8a7c1e94b36f2ull

/*
 * Code that one task was sent to. It keeps the registers that the task was sent
 * with; which is known to be out of it (.left) when it was seen to be back, was
 * put back with them, or has ended.
 */
struct scratch_guest {
	taddr_t place; /* 0: there is none */
	uint64_t size;
	uint8_t before[SCRATCH_GUEST_MAX]; /* what was there */
	pid_t tid;
	struct regs regs;
	bool left;
};

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
	struct scratch_guest guest;
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
 * Puts back, in a child that was forked from the space by a task (0: nobody
 * knows which) and has not run yet, the bytes that were there before; but for
 * the guest's, if it is that task: the child will return there, too.
 */
void scratch_clean_copy(struct space *space, struct procmem *child,
			pid_t forker);

/* The child has the parent's copies in its memory, and keeps them. */
void scratch_inherit(struct space *child, const struct space *parent);

/* The bytes that were there before, in the space itself. No task may be inside. */
void scratch_restore(struct space *space);
/* The copy of a trap that is about to go. */
void scratch_release(struct space *space, struct trap *trap);

/* From now on copies leave room for that, where there is some. 0: no longer. */
void scratch_keep(struct space *space, uint64_t size);

/*
 * Other code: room for one piece at a time, which the task is about to be sent
 * to. It has to need nobody: the task may be left alone in it. Returns a
 * negative errno when there is no room.
 */
int scratch_begin_guest(struct space *space, const struct task *task,
			uint64_t size) MUST_CHECK;
int scratch_write_guest(struct space *space, const void *code) MUST_CHECK;

/* What was there before is there again. No task may be in it. */
void scratch_end_guest(struct space *space);

/* Stays as it is: a task may come back to it, or not. Its place is used no more. */
void scratch_abandon_guest(struct space *space);

/* A task has ended, and is in no guest any more. */
void scratch_lose_task(struct space *space, pid_t tid);

/* Whether it is that code. */
bool scratch_is_guest(const struct space *space, taddr_t ip);

void scratch_free(struct space *space);

#endif
