/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"

/*
 * Calls whose returns aren't watched leave no activation behind that could tell
 * of their tail calls (musl's free jumps to __libc_free). These come from the
 * same frame, return to the same place and have the same argument. A second
 * call from there is of the same function.
 */

static uint64_t first_argument(struct probe_space *space, struct task *task)
{
	struct space *remote = space->space;
	uint64_t value = 0;

	(void)remote->arch->argument(&task->regs, &remote->memory.memory, 0,
				     &value);
	return value;
}

bool unwatched_goes_on(struct probe_space *space, struct task *task,
		       const struct function *function, taddr_t slot,
		       taddr_t return_address)
{
	struct task_calls *calls = task_calls_of(task);
	const struct function *before = calls->unwatched.function;

	if (before && function->group && before != function &&
	    before->group == function->group &&
	    calls->unwatched.slot == slot &&
	    calls->unwatched.return_address == return_address &&
	    calls->unwatched.argument == first_argument(space, task))
		return true;
	calls->unwatched.function = NULL;
	return false;
}

void unwatched_note(struct probe_space *space, struct task *task,
		    const struct activation *activation)
{
	struct task_calls *calls = task_calls_of(task);

	calls->unwatched.function = activation->call.function;
	calls->unwatched.slot = activation->key.slot;
	calls->unwatched.return_address = activation->call.return_address;
	calls->unwatched.argument = first_argument(space, task);
}
