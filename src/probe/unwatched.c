/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"

/*
 * Calls whose returns aren't watched leave no activation behind that could tell
 * of their tail calls (musl's free jumps to __libc_free). These come from the
 * same frame, return to the same place and have the same argument. A second
 * call from there is of the same function.
 */

static uint64_t first_argument(const struct moment *moment)
{
	uint64_t value = 0;

	(void)moment->arch->argument(moment->regs, moment->memory, 0, &value);
	return value;
}

bool unwatched_is_same(struct task_calls *calls,
		       const struct unwatched_call *call)
{
	const struct unwatched_call *before = &calls->unwatched;

	if (before->function && call->function->group &&
	    before->function != call->function &&
	    before->function->group == call->function->group &&
	    before->slot == call->slot &&
	    before->return_address == call->return_address &&
	    before->argument == call->argument)
		return true;
	calls->unwatched.function = NULL;
	return false;
}

bool unwatched_goes_on(const struct moment *moment,
		       const struct function *function, taddr_t slot,
		       taddr_t return_address)
{
	const struct unwatched_call call = {
		.function = function,
		.slot = slot,
		.return_address = return_address,
		.argument = first_argument(moment),
	};

	return unwatched_is_same(moment->calls, &call);
}

void unwatched_note(const struct moment *moment,
		    const struct activation *activation)
{
	moment->calls->unwatched = (struct unwatched_call){
		.function = activation->call.function,
		.slot = activation->key.slot,
		.return_address = activation->call.return_address,
		.argument = first_argument(moment),
	};
}
