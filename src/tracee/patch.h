/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PATCH_H
#define CALLTRAP_PATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/types.h"

struct space;

/* The first instructions of a function that a jump of five bytes may cover. */
#define PATCH_INSNS 5

/*
 * A jump that stands in the code of a space. It is written by one aligned word
 * while threads run, and some may be in the midst of what it covers, now or in
 * the frame of a signal handler. So its bytes are chosen such that an int3 is
 * where one of the covered instructions began: whoever was inside runs into
 * that, and goes on in a copy of the same instruction.
 */
struct patch {
	taddr_t word;   /* the word's address … */
	uint64_t before; /* … what it holds without the jump … */
	uint64_t after; /* … and with it */
	taddr_t jump;   /* where the jump begins: a function's entry */
	/* By distance from .jump: where the copy of the instruction is that
	   began there; 0: none did. */
	taddr_t copies[PATCH_INSNS];
	struct patch *next;
};

/*
 * Writes the jump; the space remembers a copy of the patch. Returns -EAGAIN
 * when something else stands there than .before (but for traps of ours), -EIO
 * when it can't be written.
 */
int patch_write(struct space *space, const struct patch *patch) MUST_CHECK;

/* Takes the jump out again, and forgets it. */
void patch_remove(struct space *space, taddr_t word);

/* What was mapped there is gone. */
void patch_forget_range(struct space *space, taddr_t low, taddr_t high);

/*
 * Where a task is to go on that has hit the int3 at an address, as that is part
 * of a jump of ours; 0: it isn't.
 */
taddr_t patch_resume(const struct space *space, taddr_t address);

/*
 * A task has been told of at the entry, and must go on behind it:
 * the copy of the instruction there, and not the jump, which would tell of it
 * again. Any other address is returned as it is.
 */
taddr_t patch_beyond(const struct space *space, taddr_t address);

/* Puts back, in n bytes of code that were read at address, what was there. */
void patch_hide(const struct space *space, taddr_t address, uint8_t *code,
		size_t n);

#endif
