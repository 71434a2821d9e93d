/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/slots.h"

#include <string.h>

#include "base/xalloc.h"

static bool read_slot(struct space *space, taddr_t address, taddr_t *ret)
{
	return procmem_read_code(&space->memory, address, ret, sizeof(*ret)) ==
	       sizeof(*ret);
}

/* Writes new where old stands, which is how it was a moment ago. */
static bool replace(struct space *space, taddr_t address, taddr_t old,
		    taddr_t new)
{
	taddr_t found;

	return read_slot(space, address, &found) && found == old &&
	       !procmem_write_code(&space->memory, address, &new, sizeof(new));
}

static struct agent_slot *find_known(const struct agent *agent, taddr_t address)
{
	size_t i;

	for (i = 0; i < agent->slot_count; i++)
		if (agent->slots[i].address == address)
			return &agent->slots[i];
	return NULL;
}

static void remember(struct agent *agent, const struct agent_slot *slot)
{
	if (find_known(agent, slot->address))
		return; /* the dynamic linker had written to it meanwhile */
	agent->slots = xgrow(agent->slots, agent->slot_count, &agent->slot_room,
			     sizeof(*agent->slots));
	agent->slots[agent->slot_count++] = *slot;
}

/*
 * Those of calls. Out of others code may as well take the address, and compare it
 * with what it got before, though they have a stub of the linker's, too.
 */
static bool is_for_calls(const struct module *module,
			 const struct import *import)
{
	switch (import->kind) {
	case IMPORT_JUMP_SLOT:
		return true;
	case IMPORT_IRELATIVE:
		return import->stub;
	default:
		return image_slot_is_only_called(module->image, import->slot);
	}
}

/* What an IFUNC's slot in its own library leads to, only the slot itself knows. */
static bool may_lead_to(const struct import *import, const char *name)
{
	return import->kind == IMPORT_IRELATIVE || !strcmp(import->name, name);
}

/* To repair what was hooked one by one: any. */
static bool may_visit(const struct module *module, const struct import *import,
		      const char *name)
{
	return !name ||
	       (may_lead_to(import, name) && is_for_calls(module, import));
}

typedef bool slot_visitor(void *context, taddr_t address);

/* Calls visit for each slot of a module that may hold the function. */
static size_t visit_slots(const struct module *module, const char *name,
			  slot_visitor *visit, void *context)
{
	size_t count, i, done = 0;
	const struct import *imports = image_imports(module->image, &count);

	for (i = 0; i < count; i++) {
		const taddr_t address = module->bias + imports[i].slot;

		if (address % 8 == 0 && may_visit(module, &imports[i], name))
			done += visit(context, address);
	}
	return done;
}

static size_t visit_modules(const struct space *space, const char *name,
			    slot_visitor *visit, void *context)
{
	const struct module *module;
	size_t done = 0;

	for (module = space->modules; module; module = module->next)
		done += visit_slots(module, name, visit, context);
	return done;
}

struct hooking {
	struct agent *agent;
	const struct agent_slot *wanted;
};

bool slots_hook_one(struct agent *agent, const struct agent_slot *slot)
{
	if (!replace(agent->space, slot->address, slot->original, slot->hook))
		return false;
	remember(agent, slot);
	return true;
}

bool slots_hook_again(struct agent *agent, const struct agent_slot *slot)
{
	struct agent_slot *known = find_known(agent, slot->address);

	if (!known || known->original != slot->original ||
	    !replace(agent->space, slot->address, known->hook, slot->hook))
		return false;
	*known = *slot;
	return true;
}

static bool hook(void *context, taddr_t address)
{
	const struct hooking *hooking = context;
	struct agent_slot slot = *hooking->wanted;

	slot.address = address;
	return slots_hook_one(hooking->agent, &slot);
}

size_t slots_hook(struct agent *agent, const char *name,
		  const struct agent_slot *wanted)
{
	struct hooking hooking = { agent, wanted };

	return visit_modules(agent->space, name, hook, &hooking);
}

void slots_restore(struct agent *agent)
{
	while (agent->slot_count) {
		const struct agent_slot *slot =
			&agent->slots[--agent->slot_count];

		(void)replace(agent->space, slot->address, slot->hook,
			      slot->original);
	}
}

void slots_restore_copy(const struct agent *agent, struct space *copy)
{
	size_t i;

	for (i = 0; i < agent->slot_count; i++)
		(void)replace(copy, agent->slots[i].address,
			      agent->slots[i].hook, agent->slots[i].original);
}

/* A page of the space, as a module's slots lie side by side. */
#define PAGE 4096

struct repair {
	struct space *space;
	slot_original *original_of;
	void *context;
	taddr_t page; /* 0: none was read */
	taddr_t slots[PAGE / sizeof(taddr_t)];
};

static bool read_page(struct repair *repair, taddr_t page)
{
	if (page == repair->page)
		return true;
	repair->page = page;
	if (procmem_read_code(&repair->space->memory, page, repair->slots,
			      PAGE) == PAGE)
		return true;
	repair->page = 0;
	return false;
}

static bool repair_one(void *context, taddr_t address)
{
	struct repair *repair = context;
	taddr_t found, original;

	if (!read_page(repair, address & -PAGE))
		return false;
	found = repair->slots[address % PAGE / sizeof(taddr_t)];
	original = repair->original_of(repair->context, found);
	return original && replace(repair->space, address, found, original);
}

size_t slots_repair(struct space *space, slot_original *original_of,
		    void *context)
{
	struct repair repair = {
		.space = space,
		.original_of = original_of,
		.context = context,
	};

	return visit_modules(space, NULL, repair_one, &repair);
}
