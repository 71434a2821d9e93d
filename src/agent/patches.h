/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PATCHES_H
#define CALLTRAP_PATCHES_H

#include "agent/agent.h"

/*
 * Functions that are called directly: a jump over their first bytes leads to a
 * trampoline nearby, and from there to the stub.
 */

/*
 * Has calls of a stub's function caught by a jump, where its trap stands now.
 * door: told of calls that the agent sends to a trap, which stands in the
 * trampoline then; or NULL. -EAGAIN when memory must be had first, for which a
 * task is to be sent (agent_fetch_page()).
 */
int patches_apply(struct agent *agent, unsigned stub,
		  struct trap_owner *door) MUST_CHECK;

/* The function's trap is there again. */
void patches_remove(struct agent *agent, unsigned stub,
		    struct trap_owner *door);

/* The jump stays, and nobody is told of who comes by it. */
void patches_keep(struct agent *agent, unsigned stub, struct trap_owner *door);

/* Whether the jump is there now. */
bool patches_stand(const struct agent *agent, unsigned stub);

/*
 * If the stub's function has a jump that was left behind, that is to be taken
 * out by patch_restore_adopted(). Returns whether it has.
 */
bool patches_adopt(struct space *space, const struct agent_stub *stub);

#endif
