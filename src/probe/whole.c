/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"

/*
 * A call that has returned before anybody was told that it began leaves nothing
 * behind to be paired. Most calls are such, where engines tell of what is past.
 */

static bool is_alone(const struct probe_space *space,
		     const struct task_calls *calls, taddr_t slot)
{
	const struct frame_key key = { .slot = slot };
	const struct activation *there;

	if (calls->stack.top || calls->unwinding)
		return false;
	if (!space->activations)
		return true;
	HASH_FIND(hh, space->activations, &key, sizeof(key), there);
	return !there;
}

bool whole_add(struct probe_space *space, struct task *task,
	       struct whole_run *run, taddr_t slot, taddr_t return_address)
{
	struct task_calls *calls = task_calls_of(task);
	struct whole_call *call = &run->calls[run->count];
	const struct function *function = call->function;
	const struct unwatched_call unwatched = {
		.function = function,
		.slot = slot,
		.return_address = return_address,
		.argument = call->arguments[0],
	};

	if (!is_alone(space, calls, slot))
		return false;
	if (task->tracee->muted ||
	    (calls->unwatched.function && unwatched_is_same(calls, &unwatched)))
		return true;
	function_called(space->prober, function);
	call->id = ++space->prober->last_call_id;
	run->count++;
	if (function->entry_only && function->group)
		calls->unwatched = unwatched;
	return true;
}

void whole_tell(struct probe_space *space, struct whole_run *run)
{
	if (!run->count)
		return;
	space->prober->counts.calls += run->count;
	prober_tell_wholes(space->prober, run);
	run->count = 0;
}
