/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "probe/private.h"
#include "tracee/evaluate.h"

/*
 * Functions of a process whose results are worked out (tracee/evaluate.c), by
 * what the C libraries call them.
 */
#define ASKED_NAMES 3

static const char *const names[ASKED_FUNCTIONS][ASKED_NAMES] = {
	[ASKED_ERRNO] = {
		"__errno_location",  /* glibc, musl */
		"___errno_location", /* musl, from within */
		"__errno",           /* bionic */
	},
	[ASKED_USABLE_SIZE] = { "malloc_usable_size" },
	[ASKED_MALLOC] = { "malloc" },
};

static size_t count_names(const char *const *list)
{
	size_t count = 0;

	while (count < ASKED_NAMES && list[count])
		count++;
	return count;
}

/*
 * The first one in the order of the link map: so the dynamic linker would
 * choose. A program that is linked statically may have none.
 */
static struct asked_function find_function(struct space *space,
					   enum asked which)
{
	const size_t count = count_names(names[which]);
	struct module *module;

	for (module = space->modules; module; module = module->next) {
		const struct symbol *found[ASKED_NAMES];
		size_t i;

		image_find_symbols(module->image, names[which], count, found);
		for (i = 0; i < count; i++)
			if (found[i])
				return (struct asked_function){
					.module = module,
					.address = module->bias +
						   found[i]->address,
					.searched = true,
				};
	}
	return (struct asked_function){ .searched = true };
}

static const struct asked_function *ask(struct probe_space *space,
					enum asked which)
{
	struct asked_function *function = &space->asked[which];

	if (!function->searched)
		*function = find_function(space->space, which);
	return function;
}

void asked_forget(struct probe_space *space)
{
	memset(space->asked, 0, sizeof(space->asked));
}

bool asked_evaluate(struct probe_space *space, enum asked which,
		    const struct regs *regs, struct memory *memory,
		    const uint64_t *argument, uint64_t *ret)
{
	const struct asked_function *function = ask(space, which);

	if (!function->module ||
	    evaluate_function(space->space, regs, memory, function->address,
			      argument, ret))
		return false;
	if (space->space->arch->word_size == 4)
		*ret = (uint32_t)*ret;
	return true;
}

/* C++'s own operators acquire by the process's malloc(), those of others in any
   way. */
static bool is_cxx_library(const char *library)
{
	return library && (!strncmp(library, "libstdc++.so", 12) ||
			   !strncmp(library, "libc++.so", 9));
}

/* One allocator's blocks aren't to be looked at by another's function. */
static bool is_of(struct probe_space *space, const struct module *module,
		  const char *library)
{
	if (is_cxx_library(library))
		return ask(space, ASKED_MALLOC)->module == module;
	return library ? !module->is_main && !strcmp(module->name, library) :
			 module->is_main;
}

bool prober_usable_size(struct space *space, const struct event *event,
			uint64_t block, uint64_t *ret)
{
	struct probe_space *own = probe_space_of(space);
	const struct asked_function *asked = ask(own, ASKED_USABLE_SIZE);

	return asked->module &&
	       is_of(own, asked->module, event->call->function->library) &&
	       asked_evaluate(own, ASKED_USABLE_SIZE, event->regs,
			      event->call->memory, &block, ret);
}
