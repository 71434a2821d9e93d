/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "sysdeps/x86_64/agent/agent.h"
#include "sysdeps/x86_64/agent/choice.h"
#include "sysdeps/x86_64/agent/entries.h"
#include "sysdeps/x86_64/agent/exits.h"
#include "sysdeps/x86_64/agent/notes.h"
#include "sysdeps/x86_64/agent/returns.h"

static void tell_return(const struct agent_frame *frame)
{
	struct agent_thread *thread =
		(struct agent_thread *)(frame->chosen & -sizeof(*thread));
	struct config config;

	if (!read_config(&config)) {
		/* In a forked child, whose gate is all zeros, that is another's. */
		if (frame->chosen && READ(patience))
			thread->within = 0;
		return;
	}
	if (frame->chosen && frame->began) {
		agent_chosen(frame);
		return;
	}
	if (frame->chosen) {
		thread->within = 0;
		return;
	}
	if (config.mode & AGENT_WATCHES)
		note_return(&config, frame, AGENT_WATCH_RETURN);
	else
		note(&config, frame, ticks_behind());
}

/* False when it is another call's by now, or none's. */
static bool read_return(unsigned i, struct agent_frame *frame,
			uint64_t *address)
{
	const struct agent_return *own = &agent_returns.list[i];
	unsigned k;

	for (k = 0; k < AGENT_ARGUMENTS; k++)
		frame->arguments[k] = own->arguments[k];
	frame->stub = (const struct agent_stub *)own->stub;
	frame->began = own->began;
	frame->chosen = own->chosen;
	frame->return_address = own->caller;
	frame->entered = own->entered;
	*address = own->address;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_at(agent_returns.slots[i], frame->slot);
}

/*
 * Whatever has become of calltrap: the call must return where it would have.
 * Who walks over this stack since it has begun to return, a handler or another
 * thread, puts the address back, and the next one forgets the call: so where to
 * go on is what the slot says, if it says anything.
 */
void agent_come_back(struct agent_result *result)
{
	volatile uint64_t *slot = &result->slot;
	const struct agent_return *own = newest_return((uint64_t)slot);
	const unsigned i = own ? (unsigned)(own - agent_returns.list) : 0;
	struct agent_frame frame;
	uint64_t address;

	frame.slot = (uint64_t)slot;
	if (!own || !read_return(i, &frame, &address)) {
		if (*slot == PLACE)
			__builtin_trap();
		return;
	}
	frame.result = result->result;
	frame.second_result = result->second;
	if (address != PLACE && *slot == PLACE)
		*slot = address; /* anybody else writes the same */
	(void)free_return(i, frame.slot);
	tell_return(&frame);
}

/*
 * A function is about to walk over this stack. Where nobody wants to know of
 * its calls, the door leads where the original does.
 */
RARE unsigned agent_put_back(const struct agent_frame *frame)
{
	struct agent_thread *thread = known_thread();
	struct config config;

	put_all_back(thread, frame->slot);
	if (!read_config(&config))
		return BY_JUMP;
	if (thread && config.mode & AGENT_SAMPLES)
		thread->within = 0;
	return frame->stub->door == frame->stub->original ? BY_JUMP :
							    go_by_trap(&config);
}
