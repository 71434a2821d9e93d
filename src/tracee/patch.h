/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PATCH_H
#define CALLTRAP_PATCH_H

#include <stdbool.h>

#include "tracee/trap.h"

struct task;

#define PATCH_SIZE 5

enum patch_state {
	PATCH_GONE,
	PATCH_HALF, /* some of its bytes are there, behind the trap */
	PATCH_STANDS,
};

/*
 * A jump that stands where a trap was, for as long as that is planted. It is
 * written, and taken out, while tasks run: behind the trap, and so that each
 * byte of it at which an instruction of the function began stops whoever is
 * about to run that one. He goes on at its copy.
 */
struct patch {
	uint8_t before[PATCH_SIZE]; /* the function's */
	uint8_t after[PATCH_SIZE];
	taddr_t target; /* where the jump leads */
	/* Copies: of the instruction that begins so far behind; or 0. */
	taddr_t places[PATCH_SIZE];
	enum patch_state state;
	bool serves; /* who comes by it needs it, whether we live or not */
	bool stays;  /* it is somebody else's business from now on */
};

/* Whether this kernel can be waited for until all processors have seen code. */
bool patch_is_possible(void);

/*
 * The trap at the address becomes a jump. -EBUSY when others want to know of
 * it, or somebody is about to come back to it; -EEXIST when the code isn't
 * what it was.
 */
int patch_apply(struct space *space, taddr_t address,
		const struct patch *patch) MUST_CHECK;

/* It is a trap again. Also one that is half written: calltrap may crash then. */
void patch_remove(struct space *space, struct trap *trap);

/* The trap goes, and the jump doesn't. */
void patch_keep(struct trap *trap);

/* The same of all that serve. No memory is taken. */
void patch_keep_serving(struct space *space);

/* The same of all, with one wait. */
void patch_remove_all(struct space *space);

/*
 * One that somebody has left behind who is gone becomes that of a trap which
 * nobody owns. Returns false when it has to stay.
 */
bool patch_adopt(struct space *space, taddr_t address,
		 const uint8_t before[PATCH_SIZE],
		 const uint8_t after[PATCH_SIZE]);

/*
 * The functions of all of those get their bytes back. The traps are remembered:
 * a child that is born meanwhile has a copy.
 */
void patch_restore_adopted(struct space *space);

/* The same of those whose first byte somebody else has changed (a uprobe). */
void patch_look(struct space *space);

/*
 * The trap's bytes in a copy of the code that nobody runs in, which may have
 * been made while a patch was being written, become the function's. Returns
 * whether they were a patch's.
 */
bool patch_clean(const struct space *space, const struct trap *trap,
		 uint8_t *code);

/* To be freed; of none: NULL. */
struct patch *patch_copy(const struct patch *patch);

static inline bool patch_stands(const struct trap *trap)
{
	return trap->patch && trap->patch->state == PATCH_STANDS;
}

static inline bool patch_stays(const struct trap *trap)
{
	return trap->patch && trap->patch->stays;
}

/*
 * A task has got a signal from a byte of a patch, or of one that is gone: it
 * goes on where it wanted to, and isn't to get the signal.
 */
bool patch_catch(struct task *task, int signal);

/* Its bytes in code that was read at address become the function's. */
void patch_hide(struct space *space, taddr_t address, uint8_t *code, size_t n);

/* Whether the address lies within one, behind its first byte. */
bool patch_covers(struct space *space, taddr_t address);

#endif
