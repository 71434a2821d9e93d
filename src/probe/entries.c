/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/picked.h"
#include "probe/private.h"

/*
 * Functions caught at their own first instruction: those of -x, and those that
 * a sink picks.
 */

static void plant_symbol(struct probe_space *space, struct module *module,
			 struct function *function, const struct symbol *symbol)
{
	if (symbol->global)
		function_linked(space->prober, function, module);
	if (symbol->kind == SYMBOL_IFUNC) {
		ifunc_follow(space, module, symbol, function, NULL, 0);
		return;
	}
	function_defined(space->prober, function, module, symbol->address);
	probe_plant(space, function,
		    &(struct probe_place){ .address = module->bias +
						      symbol->address });
}

static bool is_filtered(struct probe_space *space, const struct symbol *symbol,
			const struct filter_library *library)
{
	struct prober *prober = space->prober;

	if (!filter_matches(prober->config.entries, symbol->name, library))
		return false;
	wanted_found_entry(prober->wanted, symbol->name, library);
	return true;
}

static bool is_picked(struct probe_space *space, const struct symbol *symbol,
		      const struct module *module)
{
	const struct prober_pick *pick = space->prober->config.pick;

	return pick && pick->wants(pick->context, symbol->name, module);
}

/*
 * Of several names for one address the first that is wanted is taken: they are
 * sorted by how well they serve to print.
 */
struct taken_entry {
	taddr_t address;
	struct function *function; /* if it was picked */
};

static void plant_picked(struct probe_space *space, struct module *module,
			 const struct symbol *symbol, struct taken_entry *taken)
{
	const struct prober_pick *pick = space->prober->config.pick;
	struct function *function;

	if (taken->function && taken->address == symbol->address) {
		pick->also_named(pick->context, taken->function, symbol->name);
		return;
	}
	function = function_get(space->prober, symbol->name, FUNCTION_ENTRY,
				module, NULL);
	if (!function->subject)
		pick->describe(pick->context, function);
	plant_symbol(space, module, function, symbol);
	*taken = (struct taken_entry){ symbol->address, function };
}

static void plant_wanted(struct probe_space *space, struct module *module,
			 const struct symbol *symbols, size_t count)
{
	struct filter_library library = filter_library_of(module);
	struct taken_entry taken = { .address = UINT64_MAX };
	size_t i;

	for (i = 0; i < count; i++) {
		const struct symbol *symbol = &symbols[i];

		if (is_picked(space, symbol, module)) {
			plant_picked(space, module, symbol, &taken);
			continue;
		}
		if (!is_filtered(space, symbol, &library) ||
		    symbol->address == taken.address)
			continue;
		taken = (struct taken_entry){ .address = symbol->address };
		plant_symbol(space, module,
			     function_get(space->prober, symbol->name,
					  FUNCTION_ENTRY, module, NULL),
			     symbol);
	}
}

static void plant_all_picked(struct probe_space *space, struct module *module)
{
	struct taken_entry taken = { .address = UINT64_MAX };
	const struct symbol *const *symbols;
	size_t count, i;

	symbols = picked_of(space->prober->picked, module, &count);
	for (i = 0; i < count; i++)
		plant_picked(space, module, symbols[i], &taken);
}

/* Those that the filter is made of; NULL when it takes more than names. */
static const char **plain_names(const struct filter *filter)
{
	const size_t count = filter_count(filter);
	const char **names = xcalloc(count, sizeof(*names));
	size_t i;

	for (i = 0; i < count; i++) {
		names[i] = filter_plain_name(filter, i);
		if (!names[i]) {
			free(names);
			return NULL;
		}
	}
	return names;
}

void entries_plant(struct probe_space *space, struct module *module)
{
	const struct filter *filter = space->prober->config.entries;
	struct filter_library library = filter_library_of(module);
	const char **names CLEANUP(xfree_cleanup) = NULL;
	struct symbol *named CLEANUP(xfree_cleanup) = NULL;
	const bool picks = space->prober->config.pick;
	const struct symbol *symbols;
	size_t count;

	if (filter_is_empty(filter) ||
	    !filter_may_match_library(filter, &library)) {
		if (picks)
			plant_all_picked(space, module);
		return;
	}
	names = picks ? NULL : plain_names(filter);
	if (names)
		symbols = named = image_symbols_named(module->image, names,
						      filter_count(filter),
						      &count);
	else
		symbols = image_symbols(module->image, &count);
	plant_wanted(space, module, symbols, count);
}
