/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"

/* -x: functions caught at their own first instruction. */

static void plant_symbol(struct probe_space *space, struct module *module,
			 const struct symbol *symbol)
{
	const struct function *function =
		function_get(space->prober, symbol->name, FUNCTION_ENTRY,
			     module, NULL);

	if (symbol->kind == SYMBOL_IFUNC)
		ifunc_follow(space, module, symbol, function, NULL, 0);
	else
		(void)probe_plant(space, function,
				  module->bias + symbol->address, NULL, 0);
}

/*
 * Of several names for one address the first that is wanted is taken: they are
 * sorted by how well they serve to print.
 */
static void plant_wanted(struct probe_space *space, struct module *module,
			 const struct symbol *symbols, size_t count)
{
	const struct filter *filter = space->prober->config.entries;
	struct filter_library library = filter_library_of(module);
	taddr_t taken = UINT64_MAX;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct symbol *symbol = &symbols[i];

		if (!filter_matches(filter, symbol->name, &library))
			continue;
		wanted_found_entry(space->prober->wanted, symbol->name,
				   &library);
		if (symbol->address == taken)
			continue;
		taken = symbol->address;
		plant_symbol(space, module, symbol);
	}
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
	const struct symbol *symbols;
	size_t count;

	if (filter_is_empty(filter) ||
	    !filter_may_match_library(filter, &library))
		return;
	names = plain_names(filter);
	if (names)
		symbols = named = image_symbols_named(
			module->image, names, filter_count(filter), &count);
	else
		symbols = image_symbols(module->image, &count);
	plant_wanted(space, module, symbols, count);
}
