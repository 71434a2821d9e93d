/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_STAMPS_H
#define CALLTRAP_AGENT_STAMPS_H

#include "sysdeps/x86_64/agent/threads.h"

/*
 * When watched calls were made. To read the clock takes as long as all else of a hook.
 * Times are for the order of threads: so a thread that calltrap has found to be the only
 * one that records (agent_shared.sole) has the time of one of its last calls, or of
 * calltrap's last sign of life, which is never later than the call. Whoever else records
 * reads the clock, writes that down, and takes the grant away before it goes on: who
 * comes behind it in any way sees that, and reads the clock as well.
 */

/* The clock's time, and for this call. sole: as it was before. */
uint64_t exact_stamp(struct agent_block *block,
		     const struct agent_thread *thread, uint64_t sole) HIDDEN;

static inline uint64_t sole_now(void)
{
	return __atomic_load_n(&agent_shared.sole, __ATOMIC_ACQUIRE);
}

static inline bool has_grant(const struct agent_block *block, uint64_t sole)
{
	return sole && block->sole == sole;
}

/* It only grows, as both do. */
static inline uint64_t stamp_of_before(const struct agent_block *block)
{
	const uint64_t beat =
		__atomic_load_n(&agent_shared.beat, __ATOMIC_ACQUIRE) &
		~(uint64_t)AGENT_TIMED;

	return block->read > beat ? block->read : beat;
}

/* By where its record will be: that never comes again. */
static inline bool is_timed(const struct agent_block *block)
{
	return block->head * 0x9e3779b97f4a7c15ull <
	       UINT64_MAX / AGENT_TIMED_OF;
}

static inline uint64_t stamp_of_entry(const struct config *config,
				      const struct agent_thread *thread)
{
	struct agent_block *block;
	uint64_t sole, now;

	if (!thread || !thread->block)
		return ticks();
	block = block_at(config, thread->block);
	sole = sole_now();
	if (!sole) {
		now = ticks() | AGENT_TIMED;
		sole = sole_now();
		if (__builtin_expect(!sole, 1))
			return now;
	}
	return has_grant(block, sole) && !is_timed(block) ?
		       stamp_of_before(block) :
		       exact_stamp(block, thread, sole);
}

/* Of one that has that for its entry. */
static inline uint64_t stamp_of_return(struct agent_block *block,
				       const struct agent_thread *thread,
				       uint64_t began)
{
	const uint64_t sole = sole_now();

	return has_grant(block, sole) && !(began & AGENT_TIMED) ?
		       stamp_of_before(block) :
		       exact_stamp(block, thread, sole);
}

/* What was recorded can be read, and nothing has come of it yet. */
static inline void revoke_others(const struct agent_thread *thread)
{
	uint64_t sole;

	__asm__ volatile("" : : : "memory");
	sole = sole_now();
	if (__builtin_expect(sole && (uint32_t)sole != thread->block, 0))
		__atomic_store_n(&agent_shared.sole, 0, __ATOMIC_SEQ_CST);
}

#endif
