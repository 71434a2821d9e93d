/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/private.h"

/*
 * -e and -l: calls that a module makes into others. At the PLT stub that the
 * module calls through; without a stub (-fno-plt) at the function's own entry,
 * where calls that don't return into the module are passed over.
 */

/*
 * The module that a name which `from` imports is bound to, as the dynamic
 * linker searches: in the order of the link map. Or NULL.
 */
static struct module *binding_find(struct space *space,
				   const struct module *from, const char *name,
				   const char *version,
				   const struct symbol **symbol_ret)
{
	struct module *module, *linker = NULL;

	for (module = space->modules; module; module = module->next) {
		if (module->link_namespace != from->link_namespace)
			continue;
		/* First in our list, last in the search order. */
		if (module->is_linker) {
			linker = module;
			continue;
		}
		*symbol_ret = image_find_export(module->image, name, version);
		if (*symbol_ret)
			return module;
	}
	*symbol_ret = linker ? image_find_export(linker->image, name, version) :
			       NULL;
	return *symbol_ret ? linker : NULL;
}

/* By -e, or by default: who calls decides. */
static bool is_wanted_of_caller(const struct prober *prober, const char *name,
				const struct module *caller)
{
	struct filter_library from = filter_library_of(caller);

	return prober->config.default_calls ?
		       caller->is_main :
		       filter_matches(prober->config.calls, name, &from);
}

/* By -l: who defines it decides. */
static bool is_wanted_of_definer(const struct prober *prober, const char *name,
				 const struct module *definer)
{
	struct filter_library to;

	if (!definer)
		return false;
	to = filter_library_of(definer);
	return filter_matches(prober->config.libraries, name, &to);
}

/*
 * The module that an import is bound to, if calls of it are wanted. Looking
 * for it is dear, so the names are compared first where that can decide.
 */
static bool bind_wanted(struct space *space, const struct prober *prober,
			const struct module *caller,
			const struct import *import,
			struct module **definer_ret,
			const struct symbol **symbol_ret)
{
	bool wanted = is_wanted_of_caller(prober, import->name, caller);

	if (!wanted && filter_is_empty(prober->config.libraries))
		return false;
	*definer_ret = binding_find(space, caller, import->name,
				    import->version, symbol_ret);
	return wanted ||
	       is_wanted_of_definer(prober, import->name, *definer_ret);
}

/* Names that the module calls through stubs, sorted. */
static const char **stub_names(const struct import *imports, size_t count,
			       size_t *count_ret)
{
	const char **names = xcalloc(count, sizeof(*names));
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		if (imports[i].stub)
			names[n++] = imports[i].name;
	*count_ret = n;
	return names;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * A canonical stub is the function's address for the whole process: other
 * modules come through it by pointer. Of the slots that stubs jump through,
 * those of another kind have their address taken as well.
 */
static void plant_at_stub(struct probe_space *space, struct module *caller,
			  const struct import *import,
			  const struct function *function)
{
	struct probe_place place = { .address = caller->bias + import->stub };

	if (import->canonical) {
		place.caller = caller;
		place.stub_slot = caller->bias + import->slot;
	} else if (import->kind == IMPORT_JUMP_SLOT)
		place.slot = caller->bias + import->slot;
	else
		place.shared_slot = caller->bias + import->slot;
	probe_plant(space, function, &place);
}

static void plant_at_definition(struct probe_space *space,
				struct module *caller, struct module *definer,
				const struct symbol *symbol,
				const struct function *function, taddr_t slot)
{
	if (symbol->kind == SYMBOL_IFUNC)
		ifunc_follow(space, definer, symbol, function, caller, slot);
	else
		probe_plant(space, function,
			    &(struct probe_place){ .address = definer->bias +
							      symbol->address,
						   .caller = caller,
						   .slot = slot });
}

struct site_search {
	struct probe_space *space;
	struct module *caller;
	const char **stubs; /* names that have a stub; sorted */
	size_t stub_count;
	size_t unbound;    /* nowhere to plant yet */
	bool without_stub; /* some function is called without one */
};

static bool has_stub(const struct site_search *search, const char *name)
{
	return bsearch(&name, search->stubs, search->stub_count,
		       sizeof(*search->stubs), compare_names);
}

static void tell_found(struct wanted *wanted, const char *name,
		       const struct module *caller,
		       const struct module *definer)
{
	struct filter_library from = filter_library_of(caller), to;

	if (definer)
		to = filter_library_of(definer);
	wanted_found_call(wanted, name, &from, definer ? &to : NULL);
}

/*
 * An import without a stub, of a name that has one elsewhere in the module, is
 * there for the function's address: calls go through the stub.
 */
static void visit_import(struct site_search *search,
			 const struct import *import)
{
	struct probe_space *space = search->space;
	struct prober *prober = space->prober;
	struct module *caller = search->caller, *definer;
	const struct function *function;
	const struct symbol *symbol;

	if (!import->name[0] ||
	    (!import->stub && (import->kind == IMPORT_IRELATIVE ||
			       has_stub(search, import->name))))
		return;
	if (!bind_wanted(space->space, prober, caller, import, &definer,
			 &symbol))
		return;
	if (!definer && !import->stub) {
		search->unbound += !import->weak;
		return;
	}
	tell_found(prober->wanted, import->name, caller, definer);
	function = function_get(prober, import->name, FUNCTION_CALL_SITE,
				definer, caller);
	if (definer && symbol->kind != SYMBOL_IFUNC)
		function_defined(prober, function, definer, symbol->address);
	if (import->stub) {
		plant_at_stub(space, caller, import, function);
		return;
	}
	search->without_stub = true;
	plant_at_definition(space, caller, definer, symbol, function,
			    caller->bias + import->slot);
}

/*
 * A tail call returns to wherever its caller would have: its return address
 * doesn't tell whose call it is. It is caught at the jump.
 */
static void plant_at_jump(struct site_search *search,
			  const struct slot_jump *jump)
{
	struct prober *prober = search->space->prober;
	struct module *caller = search->caller, *definer;
	const struct import *import = jump->import;
	const struct symbol *symbol;
	bool called;

	if (!import->name[0] || has_stub(search, import->name))
		return;
	if (!bind_wanted(search->space->space, prober, caller, import, &definer,
			 &symbol) ||
	    !definer)
		return;
	called = image_slot_is_only_called(caller->image, import->slot);
	probe_plant(search->space,
		    function_get(prober, import->name, FUNCTION_CALL_SITE,
				 definer, caller),
		    &(struct probe_place){
			    .address = caller->bias + jump->address,
			    .slot = called ? caller->bias + import->slot : 0,
			    .at_jump = true });
}

static void plant_at_jumps(struct site_search *search)
{
	size_t count, i;
	const struct slot_jump *jumps =
		image_slot_jumps(search->caller->image, &count);

	for (i = 0; i < count; i++)
		plant_at_jump(search, &jumps[i]);
}

static bool may_be_wanted(const struct prober *prober,
			  const struct module *caller)
{
	struct filter_library library = filter_library_of(caller);

	return prober->config.default_calls ?
		       caller->is_main :
		       !filter_is_empty(prober->config.libraries) ||
			       filter_may_match_library(prober->config.calls,
							&library);
}

/*
 * Each module is done once; again while imports are unbound, as a library that
 * comes later may define them.
 */
void call_sites_plant(struct probe_space *space, struct module *module)
{
	struct site_search search = { .space = space, .caller = module };
	const struct import *imports;
	size_t count, i;

	if (module->sites_done)
		return;
	module->sites_done = true;
	if (!may_be_wanted(space->prober, module))
		return;
	imports = image_imports(module->image, &count);
	search.stubs = stub_names(imports, count, &search.stub_count);
	qsort(search.stubs, search.stub_count, sizeof(*search.stubs),
	      compare_names);
	for (i = 0; i < count; i++)
		visit_import(&search, &imports[i]);
	if (search.without_stub)
		plant_at_jumps(&search);
	module->sites_done = !search.unbound;
	free(search.stubs);
}
