/* SPDX-License-Identifier: GPL-2.0-or-later */
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
void entries_plant(struct probe_space *space, struct module *module)
{
	const struct filter *filter = space->prober->config.entries;
	struct filter_library library = filter_library_of(module);
	const struct symbol *symbols;
	uint64_t taken = UINT64_MAX;
	size_t count, i;

	if (filter_is_empty(filter) ||
	    !filter_may_match_library(filter, &library))
		return;
	symbols = image_symbols(module->image, &count);
	for (i = 0; i < count; i++) {
		const struct symbol *symbol = &symbols[i];

		if (!filter_matches(filter, symbol->name, &library))
			continue;
		wanted_found(space->prober->wanted, FUNCTION_ENTRY,
			     symbol->name, &library);
		if (symbol->address == taken)
			continue;
		taken = symbol->address;
		plant_symbol(space, module, symbol);
	}
}
