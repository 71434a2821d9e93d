/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"
#include "tracee/evaluate.h"

/* What the C libraries' functions that tell where errno is are called. */
static const char *const names[] = {
	"__errno_location",  /* glibc, musl */
	"___errno_location", /* musl, from within */
	"__errno",           /* bionic */
};

/*
 * The first one in the order of the link map: so the dynamic linker would
 * choose. A program that is linked statically may have none.
 */
static taddr_t find_function(struct space *space)
{
	struct module *module;

	for (module = space->modules; module; module = module->next) {
		const struct symbol *found[ARRAY_SIZE(names)];
		size_t i;

		image_find_symbols(module->image, names, ARRAY_SIZE(names),
				   found);
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (found[i])
				return module->bias + found[i]->address;
	}
	return 0;
}

void errno_forget(struct probe_space *space)
{
	space->errno_searched = false;
}

bool errno_place(const struct moment *moment, taddr_t *ret)
{
	struct probe_space *space = moment->space;

	if (!space->errno_searched)
		space->errno_function = find_function(space->space);
	space->errno_searched = true;
	if (!space->errno_function ||
	    evaluate_function(space->space, moment->regs, moment->memory,
			      space->errno_function, ret))
		return false;
	if (moment->arch->word_size == 4)
		*ret = (uint32_t)*ret;
	return true;
}

int errno_read(const struct moment *moment)
{
	taddr_t place;
	int32_t error;

	if (!errno_place(moment, &place) ||
	    memory_read(moment->memory, place, &error, sizeof(error)))
		return 0;
	return error > 0 && error < 4096 ? error : 0;
}
