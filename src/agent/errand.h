/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ERRAND_H
#define CALLTRAP_ERRAND_H

/*
 * Code in the program that makes a system call for us, where nothing of ours is
 * mapped yet: in the unused end of a page of code. It restores all registers
 * and goes on where it is told, so a task that is in it needs nobody.
 */

#include "sysdeps/x86_64/agent/layout.h"
#include "tracee/space.h"

struct agent_saved errand_save(const struct regs *regs);

/* Copies of instructions leave room for an errand, until there need be none. */
void errand_keep_room(struct space *space, bool needed);

/*
 * Where the task is to be sent, with the registers that it has; scratch_end_guest()
 * when it is known to be out of it. Returns a negative errno when there is no room for
 * it.
 */
int errand_write(const struct task *task, const struct agent_errand *what,
		 taddr_t *place_ret) MUST_CHECK;

#endif
