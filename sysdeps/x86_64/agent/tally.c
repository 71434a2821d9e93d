/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/choice.h"
#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/room.h"
#include "sysdeps/x86_64/agent/threads.h"

/*
 * Calls that are counted when they begin. One of many goes by the trap, which tells of
 * it as of any: how long such a call takes, and whether it fails, is known of these
 * alone. They are so far apart as calltrap says, at random, as programs repeat
 * themselves.
 */

/* Nobody waits for a sign of life: the next call will do as well. */
static bool is_served(const struct config *config)
{
	const uint64_t now = ticks();

	if (is_alone(config, now))
		close_gate();
	return serves_traps(config, now);
}

/* Returns whether it is the running call. A handler's may have been it meanwhile. */
static bool draw(struct agent_counter *counter, uint64_t calls, uint64_t rate)
{
	const uint64_t next = calls + next_distance(1ull << rate) - 1;

	if (!change_word(&counter->next, 0, next))
		return false;
	counter->drawn = rate;
	return next == calls;
}

static RARE enum way tell_of_one(const struct config *config,
				 struct agent_thread *thread,
				 struct agent_counter *counter,
				 const struct agent_frame *frame,
				 uint64_t calls)
{
	const uint64_t rate =
		block_at(config, 0)->counters[frame->stub->index].rate %
		AGENT_RATES;
	uint64_t next, drawn;

	if (!counter->next && !draw(counter, calls, rate))
		return BY_JUMP;
	next = counter->next;
	drawn = counter->drawn;
	if (!is_served(config) || !next ||
	    !change_word(&counter->next, next,
			 calls + next_distance(1ull << rate) - 1))
		return BY_JUMP;
	counter->drawn = rate;
	own_add(&counter->calls, -1);
	thread->trapped =
		agent_trapped(frame->slot, AGENT_CHOICE_KEPT, (unsigned)drawn);
	return BY_TRAP;
}

/* As read_config(), of what is needed here: most calls do no more than to be counted. */
static inline bool read_place(struct config *ret)
{
	ret->patience = READ(patience);
	ret->blocks = READ(blocks);
	ret->block_size = READ(block_size);
	ret->tid_offset = READ(tid_offset);
	return READ(on);
}

unsigned agent_tally(const struct agent_frame *frame)
{
	struct agent_thread *thread;
	struct agent_counter *counter;
	struct config config;
	uint64_t calls;

	if (!read_place(&config))
		return BY_JUMP;
	thread = find_thread(&config);
	counter = &block_at(&config, thread ? thread->block : 0)
			   ->counters[frame->stub->index];
	if (__builtin_expect(!thread || !thread->block, 0)) {
		common_add(&counter->calls, 1);
		return BY_JUMP;
	}
	calls = own_add(&counter->calls, 1) + 1;
	if (__builtin_expect(calls < counter->next, 1))
		return BY_JUMP;
	return tell_of_one(&config, thread, counter, frame, calls);
}
