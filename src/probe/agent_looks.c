/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"

/*
 * Texts that are looked at in the process before a call: only where it is known that
 * they can be read, as a fault there would be none of the program's. Each that isn't
 * known has its call come by the trap, and is looked up in the process's mappings.
 */

/* A device may do something when it is read. */
static bool may_be_read(const struct procfs_mapping *mapping)
{
	return mapping->readable && (strncmp(mapping->path, "/dev/", 5) ||
				     !strncmp(mapping->path, "/dev/shm/", 9) ||
				     !strncmp(mapping->path, "/dev/zero", 9));
}

/* So many at once, as a program begins with; of more (each of its texts lies elsewhere)
   one in that time: to look at all mappings takes a while. */
#define FEW        64
#define LEARN_WAIT (NS_PER_SECOND / 100)

static void learn(struct agent_space *space, taddr_t address)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	const uint64_t now = clock_now();

	if (space->looks > FEW && now - space->looked_up < LEARN_WAIT)
		return;
	space->looks++;
	space->looked_up = now;
	if (procfs_find_mapping(space->pid, address, mapping) &&
	    may_be_read(mapping))
		shared_set_readable(&space->agent.shared, address,
				    mapping->start, mapping->end);
}

static taddr_t argument(const struct task *task, unsigned which)
{
	const taddr_t arguments[AGENT_ARGUMENTS] = {
		task->regs.user.rdi, task->regs.user.rsi, task->regs.user.rdx,
		task->regs.user.rcx, task->regs.user.r8,  task->regs.user.r9,
	};

	return arguments[which % AGENT_ARGUMENTS];
}

void agent_looks_learn(struct agent_point *own, const struct task *task)
{
	struct agent *agent = &own->space->agent;
	const struct agent_stub *stub;
	unsigned i;

	if (own->stub < 0 || agent->state != AGENT_INSIDE)
		return;
	stub = &agent->stubs[own->stub];
	if (!(stub->failure & AGENT_LOOKS_FIRST))
		return;
	for (i = 0; i < AGENT_CAPTURES && stub->captures[i]; i++) {
		const unsigned capture = stub->captures[i];
		const taddr_t address =
			argument(task, capture & AGENT_CAPTURE_WHICH);

		if (agent_is_looked_at_first(capture) &&
		    !shared_is_readable(&agent->shared, address))
			learn(own->space, address);
	}
}
