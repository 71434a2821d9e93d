/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

static const struct point_ops entry_ops;

/* The next probe of those at one address, from point on. */
static struct probe *next_probe(struct point *point)
{
	while (point && point->ops != &entry_ops)
		point = point->same_address;
	return (struct probe *)point;
}

#define for_each_probe_at(space, address, probe)                       \
	for ((probe) = next_probe(points_at(space, address)); (probe); \
	     (probe) = next_probe((probe)->point.same_address))

/* A jump to the function was trapped as well: it has been counted there. */
static bool was_counted_at_jump(const struct moment *moment,
				struct probe *probe, taddr_t return_address)
{
	const struct function *function =
		pairing_jumped_to(moment, return_address);
	struct probe *other;

	if (!function)
		return false;
	for_each_probe_at(moment->space, probe->point.address, other)
		if (other->point.function == function)
			return true;
	return false;
}

/* Slots are filled in by the time that a function is called through one; those that
   lead to an engine may do so for this function. */
static bool find_sharing(const struct point *point, const struct moment *moment)
{
	const struct module *caller = point->caller;
	size_t count, i;
	const struct import *imports = image_imports(caller->image, &count);

	for (i = 0; i < count; i++) {
		taddr_t slot = caller->bias + imports[i].slot;
		uint64_t target;

		if (slot != point->slot &&
		    strcmp(imports[i].name, point->function->name) &&
		    !memory_read_word(moment->memory, slot,
				      moment->arch->word_size, &target) &&
		    target &&
		    (target == point->address ||
		     !module_find(point->space->space, target)))
			return true;
	}
	return false;
}

static bool shares_target(struct probe *probe, const struct moment *moment)
{
	if (!probe->sharing_known)
		probe->shares_target = find_sharing(&probe->point, moment);
	probe->sharing_known = true;
	return probe->shares_target;
}

/*
 * Which import a call was made through, where several lead to one function: a
 * call through the GOT shows its slot. Behind a call through a register the
 * first of them is taken.
 */
static bool was_called_through(const struct moment *moment,
			       const struct probe *probe,
			       taddr_t return_address)
{
	const struct module *caller = probe->point.caller;
	taddr_t got = caller->bias + image_got_address(caller->image);
	taddr_t slot;

	if (!moment->arch->slot_called(moment->memory, return_address, got,
				       &slot))
		return !probe->is_second;
	return slot == probe->point.slot;
}

/* Whether the call is one of the calling module's, by this import. */
static bool is_callers(const struct moment *moment, struct probe *probe,
		       taddr_t return_address)
{
	if (!module_holds(probe->point.caller, return_address) ||
	    was_counted_at_jump(moment, probe, return_address))
		return false;
	return !probe->point.slot || !shares_target(probe, moment) ||
	       was_called_through(moment, probe, return_address);
}

/* A function was entered; it hasn't done anything yet. */
static void on_entry(struct point *point, const struct moment *moment)
{
	struct probe *probe = (struct probe *)point;
	uint64_t return_address;

	if (moment->muted)
		return;
	if (moment_return_address(moment, &return_address))
		return; /* no stack: it will die of the same */
	if (point->caller && !is_callers(moment, probe, return_address))
		return;
	pairing_enter_call(moment, point->function, return_address,
			   point->at_jump);
}

static const struct point_ops entry_ops = { .reached = on_entry };

static bool is_planted(const struct probe_space *space,
		       const struct function *function,
		       const struct probe_place *place)
{
	struct probe *probe;

	for_each_probe_at(space, place->address, probe)
		if (probe->point.function == function &&
		    probe->point.caller == place->caller)
			return true;
	return false;
}

static bool has_other_import(const struct probe *probe)
{
	struct probe *other;

	for_each_probe_at(probe->point.space, probe->point.address, other)
		if (other != probe &&
		    other->point.caller == probe->point.caller)
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

/* Where interpreters are in their programs is read from their memory. */
static unsigned needs_of(const struct prober *prober,
			 const struct function *function,
			 const struct probe_place *place)
{
	unsigned needs = place->at_jump && !place->slot ? ENGINE_ANY :
							  ENGINE_ENTRY;

	if (!function->entry_only && function->returns != RETURNS_NEVER)
		needs |= ENGINE_RETURN;
	if (prober->config.scripts)
		needs |= ENGINE_MEMORY;
	return needs;
}

static bool is_slot_called(const struct probe_place *place)
{
	const struct module *caller = place->caller;

	return caller && place->slot &&
	       image_slot_is_only_called(caller->image,
					 place->slot - caller->bias);
}

static struct probe *probe_new(struct probe_space *space,
			       const struct function *function,
			       const struct probe_place *place)
{
	struct probe *probe = xcalloc(1, sizeof(*probe));

	probe->point.ops = &entry_ops;
	probe->point.space = space;
	probe->point.address = place->address;
	probe->point.function = function;
	probe->point.caller = place->caller;
	probe->point.slot = place->slot;
	probe->point.shared_slot = place->shared_slot;
	probe->point.stub_slot = place->stub_slot;
	probe->point.at_jump = place->at_jump;
	probe->point.slot_is_called = is_slot_called(place);
	return probe;
}

void probe_plant(struct probe_space *space, const struct function *function,
		 const struct probe_place *place)
{
	struct prober *prober = space->prober;
	struct probe *probe;
	int err;

	if (is_planted(space, function, place))
		return;
	probe = probe_new(space, function, place);
	err = point_plant(&probe->point, needs_of(prober, function, place));
	if (err) {
		diag(DIAG_DEBUG, DIAG_PROBE, "%s at %#" PRIx64 ": %s",
		     function->name, place->address, strerror(-err));
		/* Who has ended in between has nothing left to miss. */
		if (!procmem_is_gone(&space->space->memory)) {
			refusal_note(prober, function, err);
			tell_failed(prober, function);
		}
		free(probe);
		return;
	}
	probe->is_second = place->caller && has_other_import(probe);
	prober->counts.probes++;
	probe->next = space->probes;
	space->probes = probe;
}

void probes_forget_range(struct probe_space *space, taddr_t low, taddr_t high)
{
	struct probe **link = &space->probes;

	while (*link) {
		struct probe *probe = *link;

		if (!point_is_within(&probe->point, low, high)) {
			link = &probe->next;
			continue;
		}
		*link = probe->next;
		point_unplant(&probe->point, true);
		free(probe);
	}
}

void probes_forget_caller(struct probe_space *space,
			  const struct module *caller)
{
	struct probe **link = &space->probes;

	while (*link) {
		struct probe *probe = *link;

		if (probe->point.caller != caller) {
			link = &probe->next;
			continue;
		}
		*link = probe->next;
		point_unplant(&probe->point, false);
		free(probe);
	}
}
