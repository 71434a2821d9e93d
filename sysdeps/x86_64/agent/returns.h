/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_RETURNS_H
#define CALLTRAP_AGENT_RETURNS_H

#include "sysdeps/x86_64/agent/agent.h"

#define PLACE ((uint64_t)agent_back)

static inline bool is_at(uint64_t word, uint64_t slot)
{
	return (word & ~(uint64_t)AGENT_RETURN_STATES) == slot;
}

/* Of those that have the slot the one that returns next; or NULL. */
struct agent_return *newest_return(uint64_t slot) HIDDEN;

/* What lies at the slot, or what that stands for. */
static inline uint64_t true_return(uint64_t slot, uint64_t address)
{
	const struct agent_return *own;

	if (__builtin_expect(address != PLACE, 1))
		return address;
	own = newest_return(slot);
	return own ? own->caller : address;
}

static inline uint64_t caller_of(const struct agent_frame *frame)
{
	return true_return(frame->slot, frame->return_address);
}

static inline bool change_word(uint64_t *word, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Where only handlers come between. */
static inline bool change_own_word(uint64_t *word, uint64_t from, uint64_t to)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@cce"(done), "+m"(*word), "+a"(from)
			 : "r"(to)
			 : "memory");
	return done;
}

/*
 * False when it is still claimed, by a thread that gets no processor: that one
 * may write to the slot yet, and the place stays its own. That is waited for
 * once, and noted.
 */
bool free_return(unsigned i, uint64_t slot) HIDDEN;

/*
 * The call will return to agent_back. False when there is no place to remember
 * it, or the gate is shut: who has shut it looks which returns are still to
 * come, and sees either this one or none. A tail caller has replaced it already,
 * and who has put it back since has done so for both.
 */
bool replace_return(const struct agent_thread *thread,
		    struct agent_frame *frame) HIDDEN;

void put_all_back(const struct agent_thread *thread, uint64_t sp) HIDDEN;

#endif
