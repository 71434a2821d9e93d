/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_ROOM_H
#define CALLTRAP_AGENT_ROOM_H

#include "sysdeps/x86_64/agent/agent.h"

/* Nobody is there to read any more. */
static inline bool is_alone(const struct config *config, uint64_t now)
{
	return (int64_t)(now - agent_shared.beat) > (int64_t)config->patience;
}

/* A 64th of the patience: who has given a sign of life since serves traps. */
#define FRESH_BITS 6

static inline bool serves_traps(const struct config *config, uint64_t now)
{
	return (int64_t)(now - agent_shared.beat) <=
	       (int64_t)(config->patience >> FRESH_BITS);
}

/*
 * A handler may come between the two, and what it has written be read by then: the one
 * that was looked at first lies behind the other.
 */
static inline bool has_words(const struct config *config,
			     const struct agent_block *block, unsigned words)
{
	const uint64_t head = __atomic_load_n(&block->head, __ATOMIC_ACQUIRE);
	const uint64_t tail = __atomic_load_n(&block->tail, __ATOMIC_ACQUIRE);

	return (int64_t)(head + words - tail) <= (int64_t)config->ring_words;
}

static inline bool is_full(const struct config *config,
			   const struct agent_block *block, unsigned words)
{
	return !has_words(config, block, words + AGENT_RING_SLACK);
}

/*
 * Returns whether there is any now. The thread keeps its processor meanwhile:
 * every way to give it up is a system call, which a filter may kill for. But it
 * says that it waits, and calltrap may stop it for as long as it reads. Who waits
 * when calltrap leaves is not told of, as who stands at a trap then.
 */
bool wait_for_room(const struct config *config, struct agent_block *block,
		   unsigned words) HIDDEN;

static inline bool has_room(const struct config *config,
			    struct agent_block *block, unsigned words)
{
	if (__builtin_expect(!is_full(config, block, words), 1))
		return true;
	if (config->mode & AGENT_WAITS)
		return wait_for_room(config, block, words);
	own_add(&block->dropped, 1);
	return false;
}

static inline bool has_record_room(const struct config *config,
				   struct agent_block *block,
				   const struct agent_frame *frame,
				   unsigned words)
{
	/* Its entry was told, before which there was more room than that. */
	return (frame->stub->failure & AGENT_REPLACES &&
		has_words(config, block, words)) ||
	       has_room(config, block, words);
}

/*
 * As own_add(); with a slot, for one that has BEGUN then: who is jumped out of leaves
 * either nothing, or a header that says so. AGENT_NO_RECORD in a forked child.
 */
#define AGENT_NO_RECORD UINT64_MAX
uint64_t begin_record(struct agent_block *block, uint64_t mask, unsigned words,
		      uint64_t slot) HIDDEN;

/* See struct agent_gap. */
bool was_given_up(struct agent_block *block, uint64_t *header,
		  uint64_t position) HIDDEN;

/*
 * The first word is written last: the record is whole. False where its thread has stood
 * within it for so long that calltrap has given it up: it is to be written once more.
 */
static inline bool end_record(const struct config *config,
			      struct agent_block *block, uint64_t position,
			      unsigned words)
{
	uint64_t *header = &block->ring[position & (config->ring_words - 1)];

	if (is_forked())
		return true;
	__atomic_store_n(header, agent_record_header(position, words),
			 __ATOMIC_RELEASE);
	__asm__ volatile("" : : : "memory");
	return __builtin_expect(position >= __atomic_load_n(&block->given_up_to,
							    __ATOMIC_ACQUIRE),
				1) ||
	       !was_given_up(block, header, position);
}

/* For who has none yet. */
void wait_for_block(const struct config *config,
		    struct agent_thread *thread) HIDDEN;

#endif
