/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"
#include "prototype/arguments.h"

/*
 * What a function was given on the stack belongs to it: it may count a length
 * down there, or put a local variable into the place. At its return the slots
 * tell nothing of the arguments any more.
 */

static taddr_t place(const struct call *call)
{
	return call->arch->return_slot(&call->entry) + call->arch->word_size;
}

void stacked_enter(struct activation *activation, const struct moment *moment)
{
	const struct call *call = &activation->call;
	const struct prototype *prototype = call->function->prototype;
	const struct call_values values = {
		.arch = call->arch,
		.entry_regs = &call->entry,
		.memory = moment->memory,
	};
	struct arguments arguments;
	size_t size;

	if (!arguments_may_be_stacked(prototype, call->arch))
		return;
	arguments_init(&arguments, prototype, &values);
	size = arguments_stacked(&arguments);
	if (size > sizeof(activation->stacked))
		size = sizeof(activation->stacked);
	if (size)
		activation->stacked_size =
			memory_read_some(moment->memory, place(call),
					 activation->stacked, size);
}

struct memory *stacked_memory(const struct activation *activation,
			      const struct moment *moment,
			      struct memory_before *space)
{
	if (!activation->stacked_size)
		return moment->memory;
	memory_before_init(space, moment->memory, place(&activation->call),
			   activation->stacked, activation->stacked_size);
	return &space->memory;
}
