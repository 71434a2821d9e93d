/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/room.h"

#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/threads.h"

/* A turn of a wait that took more than this part of the patience was none: the
   thread stood, or was in a handler of signals, or had no processor. */
#define TURN_BITS 16

static inline uint64_t turn(const struct config *config, uint64_t took)
{
	return took > config->patience >> TURN_BITS ? 0 : took;
}

RARE bool wait_for_room(const struct config *config, struct agent_block *block,
			unsigned words)
{
	const uint64_t began = ticks();
	uint64_t now = began, turned = 0;

	__atomic_store_n(&block->waiting, own_tid(config), __ATOMIC_RELAXED);
	while (is_full(config, block, words) && READ(on)) {
		const uint64_t before = now;

		now = ticks();
		turned += turn(config, now - before);
		if (is_alone(config, now))
			close_gate();
		__builtin_ia32_pause();
	}
	__atomic_store_n(&block->waiting, 0, __ATOMIC_RELAXED);
	own_add(&block->waited_ticks, ticks() - began);
	own_add(&block->turned_ticks, turned);
	return READ(on) && !is_full(config, block, words);
}

/*
 * False: a handler came in between, and has taken that place. Nothing is changed where
 * it has: it may be finished, and where the handler has forked, its parent's.
 */
static inline bool take_place(struct agent_block *block, uint64_t position,
			      uint64_t mask, unsigned words, uint64_t slot)
{
	uint64_t *header = &block->ring[position & mask];
	uint64_t *second = &block->ring[(position + 1) & mask];
	const uint64_t before = __atomic_load_n(header, __ATOMIC_RELAXED);
	const uint64_t unused = __atomic_load_n(second, __ATOMIC_RELAXED);

	__asm__ volatile("" : : : "memory");
	return __atomic_load_n(&block->head, __ATOMIC_RELAXED) == position &&
	       change_own_word(second, unused, slot) &&
	       change_own_word(header, before,
			       agent_record_header(position,
						   words | AGENT_BEGUN)) &&
	       change_own_word(&block->head, position, position + words);
}

__attribute__((noinline)) uint64_t begin_record(struct agent_block *block,
						uint64_t mask, unsigned words,
						uint64_t slot)
{
	uint64_t position;

	do {
		if (is_forked())
			return AGENT_NO_RECORD;
		if (!slot)
			return own_add(&block->head, words);
		position = __atomic_load_n(&block->head, __ATOMIC_RELAXED);
	} while (!take_place(block, position, mask, words, slot));
	return position;
}

/* It was counted as lost, if it is the first there. */
RARE bool was_given_up(struct agent_block *block, uint64_t *header,
		       uint64_t position)
{
	const uint64_t whole = *header;
	unsigned i;

	for (i = 0; i < AGENT_GIVEN_UP; i++) {
		const struct agent_gap gap = block->given_up[i];

		if (position - gap.from >= gap.to - gap.from)
			continue;
		if (whole & AGENT_TAKEN || !change_word(header, whole, 0))
			return false;
		if (position == gap.from)
			own_add(&block->dropped, -1ull);
		return true;
	}
	return false;
}

RARE void wait_for_block(const struct config *config,
			 struct agent_thread *thread)
{
	while (!thread->block &&
	       __atomic_load_n(&agent_shared.more, __ATOMIC_RELAXED) &&
	       READ(on) && !is_alone(config, ticks())) {
		take_block(thread);
		__builtin_ia32_pause();
	}
}
