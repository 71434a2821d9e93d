/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

static const struct trap_owner_ops entry_ops;

/* The next probe in a trap's list of owners, from owner on. */
static struct probe *next_probe(struct trap_owner *owner)
{
	while (owner && owner->ops != &entry_ops)
		owner = owner->next;
	return (struct probe *)owner;
}

#define for_each_probe_at(trap, probe)                                    \
	for ((probe) = next_probe((trap) ? (trap)->owners : NULL); (probe); \
	     (probe) = next_probe((probe)->owner.next))

/* A jump to the function was trapped as well: it has been counted there. */
static bool was_counted_at_jump(const struct moment *moment,
				struct probe *probe, taddr_t return_address)
{
	const struct function *function =
		pairing_jumped_to(moment, return_address);
	struct probe *other;

	if (!function)
		return false;
	for_each_probe_at(trap_find(probe->space->space, probe->address),
			  other)
		if (other->function == function)
			return true;
	return false;
}

/* Slots are filled in by the time that a function is called through one. */
static bool find_sharing(const struct probe *probe)
{
	struct space *space = probe->space->space;
	const struct module *caller = probe->caller;
	size_t count, i;
	const struct import *imports = image_imports(caller->image, &count);

	for (i = 0; i < count; i++) {
		taddr_t slot = caller->bias + imports[i].slot;
		uint64_t target;

		if (slot != probe->slot &&
		    strcmp(imports[i].name, probe->function->name) &&
		    !memory_read_word(&space->memory.memory, slot,
				      space->arch->word_size, &target) &&
		    target == probe->address)
			return true;
	}
	return false;
}

static bool shares_target(struct probe *probe)
{
	if (!probe->sharing_known)
		probe->shares_target = find_sharing(probe);
	probe->sharing_known = true;
	return probe->shares_target;
}

/*
 * Which import a call was made through, where several lead to one function: a
 * call through the GOT shows its slot. Behind a call through a register the
 * first of them is taken.
 */
static bool was_called_through(const struct probe *probe,
			       taddr_t return_address)
{
	struct space *space = probe->space->space;
	const struct module *caller = probe->caller;
	taddr_t got = caller->bias + image_got_address(caller->image);
	taddr_t slot;

	if (!space->arch->slot_called(&space->memory.memory, return_address,
				      got, &slot))
		return !probe->is_second;
	return slot == probe->slot;
}

/* Whether the call is one of the calling module's, by this import. */
static bool is_callers(const struct moment *moment, struct probe *probe,
		       taddr_t return_address)
{
	if (!module_holds(probe->caller, return_address) ||
	    was_counted_at_jump(moment, probe, return_address))
		return false;
	return !probe->slot || !shares_target(probe) ||
	       was_called_through(probe, return_address);
}

/* A function was entered; its return address is on top of the stack. */
static void on_entry(struct trap_owner *owner, struct task *task)
{
	const struct moment moment = moment_of_stop(task);
	struct probe *probe = (struct probe *)owner;
	uint64_t return_address;

	if (task->tracee->muted)
		return;
	if (memory_read_word(moment.memory,
			     moment.arch->return_slot(moment.regs),
			     moment.arch->word_size, &return_address))
		return; /* no stack: it will die of the same */
	if (probe->caller && !is_callers(&moment, probe, return_address))
		return;
	pairing_enter_call(&moment, probe->function, return_address,
			   probe->at_jump);
}

static const struct trap_owner_ops entry_ops = { .hit = on_entry };

static struct probe *find_equal(struct probe_space *space,
				const struct function *function,
				taddr_t address, const struct module *caller)
{
	struct probe *probe;

	for_each_probe_at(trap_find(space->space, address), probe)
		if (probe->function == function && probe->caller == caller)
			break;
	return probe;
}

static bool has_other_import(const struct probe *probe)
{
	struct probe *other;

	for_each_probe_at(trap_find(probe->space->space, probe->address),
			  other)
		if (other != probe && other->caller == probe->caller)
			return true;
	return false;
}

static void tell_failed(const struct prober *prober,
			const struct function *function)
{
	const struct prober_pick *pick = prober->config.pick;

	if (pick && pick->failed)
		pick->failed(pick->context, function);
}

struct probe *probe_plant(struct probe_space *space,
			  const struct function *function, taddr_t address,
			  const struct module *caller, taddr_t slot)
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
	probe->slot = slot;
	err = trap_plant(space->space, address, &probe->owner);
	if (err) {
		diag(DIAG_DEBUG, DIAG_PROBE, "%s at %#" PRIx64 ": %s",
		     function->name, address, strerror(-err));
		space->prober->counts.failed_probes++;
		tell_failed(space->prober, function);
		free(probe);
		return NULL;
	}
	probe->is_second = caller && has_other_import(probe);
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
