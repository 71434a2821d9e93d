/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "probe/agent_private.h"

/*
 * -e and -l: calls of a module that has no stub for them (-fno-plt, Rust), but whose
 * code only calls what the slot holds. The trap at the function's entry stays, for
 * its calls by pointer. Calls of others are passed over there; where these are many,
 * their slots lead past the trap. Those at jumps through the slot are lifted once that
 * leads to the agent, and whoever has hit one before doesn't read the slot again, as
 * in agent_site.c.
 */

bool agent_is_callers(const struct agent_point *own)
{
	return own->point->caller && !own->point->stub_slot;
}

bool agent_is_jump(const struct agent_point *own)
{
	return own->point->at_jump;
}

bool agent_callers_are_alone(const struct trap *trap)
{
	const struct trap_owner *owner = trap ? trap->owners : NULL;

	for (; owner; owner = owner->next)
		if (owner->ops != &agent_owner_ops ||
		    !agent_is_callers((const struct agent_point *)owner))
			return false;
	return trap;
}

static bool are_alone_at(const struct agent_point *own)
{
	return agent_callers_are_alone(
		trap_find(own->space->space->space, own->point->address));
}

/* So often the function was called otherwise: mostly by others. */
#define MANY_HITS 64

/* Calls through it are wanted for themselves. */
static bool is_wanted(const struct agent_space *space, taddr_t slot)
{
	const struct agent_point *own;

	for (own = space->points; own; own = own->next)
		if (own->point->slot == slot ||
		    own->point->shared_slot == slot ||
		    own->point->stub_slot == slot)
			return true;
	return false;
}

/* Several IFUNCs may choose one function (memcpy and memmove). */
static bool may_name(const struct import *import, const struct agent_point *own,
		     const struct module *definer)
{
	const struct symbol *symbol;

	if (!strcmp(import->name, own->point->function->name))
		return true;
	symbol = definer ? image_find_export(definer->image, import->name,
					     import->version) :
			   NULL;
	return symbol && symbol->kind == SYMBOL_IFUNC;
}

/*
 * Of another kind are those that the module takes the function's address from as
 * well. What an IFUNC's slot in its own library leads to, only the slot knows.
 */
static bool is_for_calls_of(const struct import *import,
			    const struct agent_point *own,
			    const struct module *definer)
{
	if (import->kind == IMPORT_IRELATIVE)
		return import->stub;
	return import->kind == IMPORT_JUMP_SLOT &&
	       may_name(import, own, definer);
}

static void lead_module_past(struct agent_point *own,
			     const struct module *module,
			     const struct module *definer)
{
	struct agent *agent = &own->space->agent;
	size_t count, i;
	const struct import *imports = image_imports(module->image, &count);
	const taddr_t function = own->point->address;
	taddr_t value;

	for (i = 0; i < count; i++) {
		const taddr_t slot = module->bias + imports[i].slot;

		if (is_for_calls_of(&imports[i], own, definer) &&
		    slot % sizeof(slot) == 0 &&
		    agent_read_slot(agent, slot, &value) && value == function &&
		    !is_wanted(own->space, slot))
			(void)agent_lead_past(agent, slot, (unsigned)own->stub);
	}
}

static void lead_others_past(struct agent_point *own)
{
	struct space *space = own->space->space->space;
	const struct module *definer = module_find(space, own->point->address);
	const struct module *module = space->modules;

	for (; module; module = module->next)
		if (module != own->point->caller)
			lead_module_past(own, module, definer);
}

bool agent_callers_way_past(const struct agent_space *space, taddr_t function,
			    taddr_t *ret)
{
	const struct agent_point *own;
	bool may_come = false;

	*ret = 0;
	for (own = space->points; own && !*ret; own = own->next) {
		if (!agent_is_callers(own) || own->point->address != function)
			continue;
		if (own->stub >= 0)
			*ret = agent_way_past(&space->agent,
					      (unsigned)own->stub);
		may_come |= own->stub < 0 && !own->given_up;
	}
	return *ret || may_come;
}

void agent_callers_hook(struct agent_point *own)
{
	struct agent *agent = &own->space->agent;
	const struct point *point = own->point;
	taddr_t value;

	if (own->stub < 0 || !agent_is_catching(own))
		return;
	if (agent_point_slot(own, &value) && value == point->address)
		(void)agent_hook_slot(agent, point->slot, (unsigned)own->stub);
	if (own->hits >= MANY_HITS && are_alone_at(own))
		lead_others_past(own);
}

/* That of the entry, of the same slot. */
static struct agent_point *entry_of(const struct agent_point *jump)
{
	struct agent_point *own;

	for (own = jump->space->points; own; own = own->next)
		if (agent_is_callers(own) &&
		    own->point->slot == jump->point->slot)
			return own;
	return NULL;
}

static bool leads_to_hook(const struct agent_point *jump, taddr_t *value_ret)
{
	const struct agent_point *entry = entry_of(jump);

	return entry && entry->stub >= 0 && agent_is_catching(jump) &&
	       agent_point_slot(jump, value_ret) &&
	       agent_leads_to_hook(entry, *value_ret);
}

static void note_call(struct agent_point *jump)
{
	struct agent_point *entry = entry_of(jump);

	if (!entry || entry->called)
		return;
	entry->called = true;
	agent_look_soon(jump->space->engine);
}

bool agent_jump_pass(struct agent_point *jump, struct task *task)
{
	taddr_t value;

	if (!agent_is_catching(jump))
		return false;
	if (!leads_to_hook(jump, &value)) {
		note_call(jump);
		return false;
	}
	agent_send_to(task, value);
	return true;
}

void agent_jump_told(struct agent_point *jump, struct task *task)
{
	taddr_t value;

	if (jump->space->agent.state != AGENT_REFUSED &&
	    agent_point_slot(jump, &value) &&
	    module_find(task->tracee->space, value))
		agent_send_to(task, value);
}

void agent_jump_look(struct agent_point *jump)
{
	taddr_t value;

	if (!jump->lifted && leads_to_hook(jump, &value))
		agent_site_lift(jump);
}
