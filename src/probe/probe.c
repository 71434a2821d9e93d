/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

/* A function was entered; its return address is on top of the stack. */
static void on_entry(struct trap_owner *owner, struct task *task)
{
	struct probe *probe = (struct probe *)owner;
	struct space *space = task->tracee->space;
	uint64_t return_address;

	if (task->tracee->muted)
		return;
	if (memory_read_word(&space->memory.memory,
			     space->arch->return_slot(&task->regs),
			     space->arch->word_size, &return_address))
		return; /* no stack: it will die of the same */
	if (probe->caller && !module_holds(probe->caller, return_address))
		return;
	pairing_enter_call(probe->space, task, probe->function,
			   return_address, probe->at_jump);
}

static const struct trap_owner_ops entry_ops = { .hit = on_entry };

static struct probe *find_equal(struct probe_space *space,
				const struct function *function,
				taddr_t address, const struct module *caller)
{
	struct trap *trap = trap_find(space->space, address);
	struct trap_owner *owner;

	for (owner = trap ? trap->owners : NULL; owner; owner = owner->next) {
		struct probe *probe = (struct probe *)owner;

		if (owner->ops == &entry_ops && probe->function == function &&
		    probe->caller == caller)
			return probe;
	}
	return NULL;
}

struct probe *probe_plant(struct probe_space *space,
			  const struct function *function, taddr_t address,
			  const struct module *caller)
{
	struct probe *probe = find_equal(space, function, address, caller);
	int err;

	if (probe)
		return probe;
	probe = xcalloc(1, sizeof(*probe));
	probe->owner.ops = &entry_ops;
	probe->space = space;
	probe->function = function;
	probe->address = address;
	probe->caller = caller;
	err = trap_plant(space->space, address, &probe->owner);
	if (err) {
		diag(DIAG_DEBUG, DIAG_PROBE, "%s at %#" PRIx64 ": %s",
		     function->name, address, strerror(-err));
		space->prober->counts.failed_probes++;
		free(probe);
		return NULL;
	}
	space->prober->counts.probes++;
	probe->next = space->probes;
	space->probes = probe;
	return probe;
}

void probes_forget_range(struct probe_space *space, taddr_t low, taddr_t high)
{
	struct probe **link = &space->probes;

	while (*link) {
		struct probe *probe = *link;

		if (probe->address < low || probe->address >= high) {
			link = &probe->next;
			continue;
		}
		*link = probe->next;
		free(probe);
	}
}

void probes_forget_caller(struct probe_space *space,
			  const struct module *caller)
{
	struct probe **link = &space->probes;

	while (*link) {
		struct probe *probe = *link;

		if (probe->caller != caller) {
			link = &probe->next;
			continue;
		}
		*link = probe->next;
		trap_unplant(space->space, probe->address, &probe->owner);
		free(probe);
	}
}
