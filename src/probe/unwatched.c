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

bool unwatched_goes_on(const struct moment *moment,
		       const struct function *function, taddr_t slot,
		       taddr_t return_address)
{
	struct task_calls *calls = moment->calls;
	const struct function *before = calls->unwatched.function;

	if (before && function->group && before != function &&
	    before->group == function->group && calls->unwatched.slot == slot &&
	    calls->unwatched.return_address == return_address &&
	    calls->unwatched.argument == first_argument(moment))
		return true;
	calls->unwatched.function = NULL;
	return false;
}

void unwatched_note(const struct moment *moment,
		    const struct activation *activation)
{
	struct task_calls *calls = moment->calls;

	calls->unwatched.function = activation->call.function;
	calls->unwatched.slot = activation->key.slot;
	calls->unwatched.return_address = activation->call.return_address;
	calls->unwatched.argument = first_argument(moment);
}
