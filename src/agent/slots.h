/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SLOTS_H
#define CALLTRAP_SLOTS_H

#include "agent/agent.h"

/*
 * GOT entries. Each is an aligned word, written at once while threads jump
 * through it. What isn't bound yet is left to the dynamic linker: the first
 * call through it is caught at the function, and from then on it leads there.
 */

/*
 * Has all slots that modules import the name through, and that hold
 * wanted->original, hold wanted->hook. Returns how many these were.
 */
size_t slots_hook(struct agent *agent, const char *name,
		  const struct agent_slot *wanted);

/* The same of the one at wanted->address; whether it held the original. */
bool slots_hook_one(struct agent *agent, const struct agent_slot *wanted);

/* … of one that holds another hook of ours by now, for the same original. */
bool slots_hook_again(struct agent *agent, const struct agent_slot *wanted);

/* All that still hold the hook get their original. */
void slots_restore(struct agent *agent);

/* The same in a copy of the memory, that of a forked child. */
void slots_restore_copy(const struct agent *agent, struct space *copy);

/* What a slot that leads there held before; 0: it is no hook's. */
typedef taddr_t slot_original(void *context, taddr_t found);

/* The same, of all slots of a space, whoever has hooked them: each is read once. */
size_t slots_repair(struct space *space, slot_original *original_of,
		    void *context);

#endif
