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
	HASH_FIND(hh, space->activations, &key, sizeof(key), there);
	return !there;
}

bool whole_tell(struct probe_space *space, struct task *task,
		struct whole_call *call, taddr_t slot, taddr_t return_address)
{
	struct task_calls *calls = task_calls_of(task);
	struct prober *prober = space->prober;
	const struct unwatched_call unwatched = {
		.function = call->function,
		.slot = slot,
		.return_address = return_address,
		.argument = call->arguments[0],
	};

	if (!is_alone(space, calls, slot))
		return false;
	if (task->tracee->muted || unwatched_is_same(calls, &unwatched))
		return true;
	function_called(prober, call->function);
	call->id = ++prober->last_call_id;
	prober->counts.calls++;
	prober_tell_whole(prober, call);
	if (call->function->entry_only && call->function->group)
		calls->unwatched = unwatched;
	return true;
}
