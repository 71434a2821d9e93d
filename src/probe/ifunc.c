/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

/*
 * An IFUNC's symbol is that of a resolver, which says at run time which
 * function is to be called. What it has said already stands in GOT slots;
 * what it will say is caught when it returns.
 */
struct ifunc {
	struct point point; /* the resolver */
	const struct function *function;
	const struct module *module; /* that defines it */
	const struct module *caller; /* these two as of struct point */
	taddr_t slot;
	const char *name;
	const struct function *shown; /* the resolver as a call, or NULL */
	uint64_t resolver;            /* in the image */
	struct ifunc *next;
};

static void on_resolver(struct point *point, const struct moment *moment)
{
	pairing_enter_resolver(moment, (struct ifunc *)point);
}

static const struct point_ops resolver_ops = { .reached = on_resolver };

static bool is_followed(const struct probe_space *space,
			const struct module *module,
			const struct symbol *symbol,
			const struct function *function,
			const struct module *caller)
{
	const struct ifunc *ifunc;

	for (ifunc = space->ifuncs; ifunc; ifunc = ifunc->next)
		if (ifunc->function == function && ifunc->caller == caller &&
		    ifunc->point.address == module->bias + symbol->address)
			return true;
	return false;
}

/* As what a sink sees it: strlen.IFUNC. */
static const struct function *shown_as(struct probe_space *space,
				       const struct module *module,
				       const char *name)
{
	char *full CLEANUP(xfree_cleanup) = xasprintf("%s.IFUNC", name);
	struct function *function =
		function_get(space->prober, full, FUNCTION_ENTRY, module, NULL);

	function->prototype = prototype_of_resolver();
	return function;
}

/* Once is enough: each module that imports it has it run. */
const struct function *ifunc_take_shown(struct ifunc *ifunc)
{
	const struct function *shown = ifunc->shown;

	ifunc->shown = NULL;
	return shown;
}

void ifunc_follow(struct probe_space *space, const struct module *module,
		  const struct symbol *symbol, const struct function *function,
		  const struct module *caller, taddr_t slot)
{
	struct ifunc *ifunc;

	if (is_followed(space, module, symbol, function, caller))
		return;
	ifunc = xcalloc(1, sizeof(*ifunc));
	ifunc->point.ops = &resolver_ops;
	ifunc->point.space = space;
	ifunc->point.address = module->bias + symbol->address;
	ifunc->function = function;
	ifunc->module = module;
	ifunc->caller = caller;
	ifunc->slot = slot;
	ifunc->name = symbol->name;
	ifunc->resolver = symbol->address;
	if (space->prober->config.resolvers && !caller)
		ifunc->shown = shown_as(space, module, symbol->name);
	if (point_plant(&ifunc->point, ENGINE_ENTRY | ENGINE_RETURN))
		diag_debug(DIAG_PROBE, "resolver of %s can't be caught",
			   symbol->name);
	ifunc->next = space->ifuncs;
	space->ifuncs = ifunc;
}

/*
 * The value may be anything yet: a slot that isn't filled in holds 0, an
 * address without bias, or leads back to the resolution code of its own PLT.
 */
static bool is_resolved(const struct ifunc *ifunc, taddr_t target)
{
	const struct module *module = ifunc->module;

	return module_holds(module, target) && target != ifunc->point.address &&
	       image_is_code(module->image, target - module->bias);
}

void ifunc_resolved(struct probe_space *space, struct ifunc *ifunc,
		    taddr_t target)
{
	if (space->space->arch->word_size == 4)
		target = (uint32_t)target;
	if (!is_resolved(ifunc, target))
		return;
	function_defined(space->prober, ifunc->function, ifunc->module,
			 target - ifunc->module->bias);
	probe_plant(space, ifunc->function,
		    &(struct probe_place){ .address = target,
					   .caller = ifunc->caller,
					   .slot = ifunc->slot });
}

static bool is_slot_of(const struct ifunc *ifunc, const struct module *module,
		       const struct import *import)
{
	if (import->kind == IMPORT_IRELATIVE)
		return module == ifunc->module &&
		       import->resolver == ifunc->resolver;
	return !strcmp(import->name, ifunc->name);
}

/*
 * A slot that nobody has called through leads back into the PLT, as the file
 * has it: code of the same module where a library calls its own IFUNC.
 */
static bool is_as_in_file(const struct module *module,
			  const struct import *import, unsigned word_size,
			  uint64_t value)
{
	uint64_t own = 0;

	return image_read(module->image, import->slot, &own, word_size) ==
		       word_size &&
	       (value == own || value == module->bias + own);
}

static void read_slot(struct probe_space *space, const struct module *module,
		      const struct import *import)
{
	struct space *remote = space->space;
	struct ifunc *ifunc;
	uint64_t target;

	for (ifunc = space->ifuncs; ifunc; ifunc = ifunc->next)
		if (is_slot_of(ifunc, module, import) &&
		    !memory_read_word(&remote->memory.memory,
				      module->bias + import->slot,
				      remote->arch->word_size, &target) &&
		    !is_as_in_file(module, import, remote->arch->word_size,
				   target))
			ifunc_resolved(space, ifunc, target);
}

void ifuncs_read_slots(struct probe_space *space)
{
	struct module *module;

	if (!space->ifuncs)
		return;
	for (module = space->space->modules; module; module = module->next) {
		const struct import *imports;
		size_t count, i;

		imports = image_imports(module->image, &count);
		for (i = 0; i < count; i++)
			read_slot(space, module, &imports[i]);
	}
}

void ifuncs_forget_caller(struct probe_space *space,
			  const struct module *caller)
{
	struct ifunc **link = &space->ifuncs;

	while (*link) {
		struct ifunc *ifunc = *link;

		if (ifunc->caller != caller) {
			link = &ifunc->next;
			continue;
		}
		*link = ifunc->next;
		point_unplant(&ifunc->point, false);
		pairing_forget_ifunc(space, ifunc);
		free(ifunc);
	}
}

void ifuncs_forget_range(struct probe_space *space, taddr_t low, taddr_t high)
{
	struct ifunc **link = &space->ifuncs;

	while (*link) {
		struct ifunc *ifunc = *link;

		if (!point_is_within(&ifunc->point, low, high)) {
			link = &ifunc->next;
			continue;
		}
		*link = ifunc->next;
		point_unplant(&ifunc->point, true);
		pairing_forget_ifunc(space, ifunc);
		free(ifunc);
	}
}
