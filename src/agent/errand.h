/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ERRAND_H
#define CALLTRAP_ERRAND_H

#include "sysdeps/x86_64/agent/layout.h"
#include "tracee/space.h"

#define ERRAND_SIZE 256

/*
 * Code in the program that makes a system call for us, where nothing of ours is
 * mapped yet: in the unused end of a page of code. It restores all registers
 * and goes on where it is told, so a task that is in it needs nobody.
 */
struct errand {
	taddr_t place; /* where it begins; 0: it isn't there */
	size_t size;
	uint8_t before[ERRAND_SIZE];
};

/* Copies of instructions leave room for an errand, until there need be none. */
void errand_keep_room(struct space *space, bool needed);

/* Returns a negative errno when there is no room for it. */
int errand_write(struct space *space, const struct agent_errand *what,
		 struct errand *ret) MUST_CHECK;

/*
 * What was there before is there again. Only when each task that was sent there
 * is known to be out of it.
 */
void errand_remove(struct space *space, struct errand *errand);

#endif
