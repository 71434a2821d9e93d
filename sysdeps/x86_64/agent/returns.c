/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/returns.h"

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "sysdeps/x86_64/agent/system_call.h"
#include "sysdeps/x86_64/agent/threads.h"

/* All of it is there. */
static inline bool is_set(uint64_t word)
{
	return (word & AGENT_RETURN_STATES) >= AGENT_RETURN_SET;
}

struct agent_return *newest_return(uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	struct agent_return *newest = NULL;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++) {
		struct agent_return *one = &agent_returns.list[i];
		const uint64_t word = __atomic_load_n(&agent_returns.slots[i],
						      __ATOMIC_ACQUIRE);

		if (is_at(word, slot) && is_set(word) &&
		    (!newest || one->level > newest->level))
			newest = one;
	}
	return newest;
}

/* Who has claimed one needs some instructions. In a forked child it is gone. */
#define CLAIMED_MOST (1u << 20)

static inline unsigned state_of(uint64_t word)
{
	return word & AGENT_RETURN_STATES;
}

bool free_return(unsigned i, uint64_t slot)
{
	uint64_t *word = &agent_returns.slots[i];
	unsigned tries;

	for (tries = 0; tries < CLAIMED_MOST; tries++) {
		const uint64_t found = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (!is_at(found, slot))
			return true;
		if (state_of(found) == AGENT_RETURN_STUCK)
			return false;
		if (state_of(found) == AGENT_RETURN_CLAIMED)
			__builtin_ia32_pause();
		else if (change_word(word, found, 0))
			return true;
	}
	(void)change_word(word, slot | AGENT_RETURN_CLAIMED,
			  slot | AGENT_RETURN_STUCK);
	return false;
}

/* The slot is another call's: what was there never came back. */
static bool forget_returns(uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	bool all = true;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++)
		if (is_at(agent_returns.slots[i], slot))
			all &= free_return(i, slot);
	return all;
}

/* Of the running thread. */
static inline bool is_own(unsigned i)
{
	return agent_returns.list[i].thread == thread_pointer();
}

/*
 * Of a call deeper in the thread's own stack, which has never come back; what
 * lies in its slot says so, too: on what looks like one stack there may be two.
 * Another thread's may be gone by now.
 */
static bool is_over(const struct agent_thread *thread, unsigned i,
		    uint64_t word, uint64_t now)
{
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;

	return thread && thread->stack_tid == thread->tid &&
	       state_of(word) == AGENT_RETURN_SET && is_own(i) && slot < now &&
	       slot >= thread->stack_low && now < thread->stack_high &&
	       *(const volatile uint64_t *)slot != PLACE;
}

static struct agent_return *take_return(const struct agent_thread *thread,
					uint64_t slot)
{
	const unsigned home = agent_return_home(slot);
	const uint64_t own = slot | AGENT_RETURN_NEW;
	unsigned i;

	for (i = home; i < home + AGENT_RETURN_WAYS; i++)
		if (!agent_returns.slots[i] &&
		    change_word(&agent_returns.slots[i], 0, own))
			return &agent_returns.list[i];
	for (i = home; i < home + AGENT_RETURN_WAYS; i++) {
		const uint64_t word = agent_returns.slots[i];

		if (is_over(thread, i, word, slot) &&
		    change_word(&agent_returns.slots[i], word, own))
			return &agent_returns.list[i];
	}
	return NULL;
}

/* What lies between a thread's stack pointer and the end of its stack is there. */
static inline bool is_on_stack(const struct agent_thread *thread, uint64_t slot,
			       uint64_t sp)
{
	return thread && thread->stack_tid == thread->tid &&
	       sp >= thread->stack_low && slot >= sp &&
	       slot < thread->stack_high;
}

static void fill_return(struct agent_return *ret,
			const struct agent_thread *thread,
			const struct agent_frame *frame, uint64_t address,
			const struct agent_return *outer)
{
	const bool known = is_on_stack(thread, frame->slot, frame->slot);
	unsigned i;

	for (i = 0; i < AGENT_ARGUMENTS; i++)
		ret->arguments[i] = frame->arguments[i];
	ret->stub = (uint64_t)frame->stub;
	ret->began = frame->began;
	ret->chosen = frame->chosen;
	ret->address = address;
	ret->caller = outer ? outer->caller : address;
	ret->thread = thread_pointer();
	ret->level = outer ? outer->level + 1 : 0;
	ret->entered = 0;
	ret->stack_low = known ? thread->stack_low : 0;
	ret->stack_high = known ? thread->stack_high : 0;
}

__attribute__((noinline)) bool replace_return(const struct agent_thread *thread,
					      struct agent_frame *frame)
{
	uint64_t *at = (uint64_t *)frame->slot;
	const uint64_t address = *at;
	const struct agent_return *outer = NULL;
	struct agent_return *own;
	unsigned i;

	if (frame->slot & AGENT_RETURN_STATES)
		return false;
	if (address == PLACE)
		outer = newest_return(frame->slot);
	else if (!forget_returns(frame->slot))
		return false;
	own = address != PLACE || outer ? take_return(thread, frame->slot) :
					  NULL;
	if (!own)
		return false;
	fill_return(own, thread, frame, address, outer);
	i = (unsigned)(own - agent_returns.list);
	if (!outer)
		__atomic_store_n(at, PLACE, __ATOMIC_RELEASE);
	__atomic_exchange_n(&agent_returns.slots[i],
			    frame->slot | AGENT_RETURN_SET, __ATOMIC_SEQ_CST);
	if (__builtin_expect(READ(on), 1))
		return true;
	if (!outer)
		__atomic_store_n(at, address, __ATOMIC_RELEASE);
	(void)free_return(i, frame->slot);
	return false;
}

/*
 * Without a fault where there is nothing: the kernel reads a set there first
 * (EFAULT), and then doesn't know the way (EINVAL). Any other answer is a filter's,
 * and says nothing.
 */
static long ask_what_is_at(uint64_t address)
{
	const long no_such_way = 100;

	return system_call(__NR_rt_sigprocmask, no_such_way, (long)address, 0,
			   8, 0, 0);
}

/* That was known when the call began. */
static inline bool is_on_its_stack(const struct agent_return *own,
				   uint64_t slot, uint64_t sp)
{
	return own->thread == thread_pointer() && sp >= own->stack_low &&
	       slot >= sp && slot < own->stack_high;
}

/*
 * False when it never came back. That may be another's memory by now, which can
 * only be read: so it is read first. One that can't be looked at stays as it is.
 */
static bool put_slot_back(const struct agent_thread *thread, unsigned i,
			  uint64_t slot, uint64_t sp)
{
	const uint64_t address = agent_returns.list[i].address;
	const bool known = is_on_stack(thread, slot, sp) ||
			   is_on_its_stack(&agent_returns.list[i], slot, sp);
	const long answer = known ? -EINVAL : ask_what_is_at(slot);

	if (answer != -EINVAL)
		return answer != -EFAULT;
	if (*(const volatile uint64_t *)slot != PLACE)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (is_at(agent_returns.slots[i], slot))
		(void)change_word((uint64_t *)slot, PLACE, address);
	return true;
}

/*
 * That of a tail caller is the outermost's, and isn't claimed either: it would be
 * waited for. The thread's own is put back whoever has claimed it, who may get no processor, or
 * be one that a forked child hasn't: both write the same.
 */
static void put_back(const struct agent_thread *thread, unsigned i,
		     uint64_t word, uint64_t sp)
{
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;
	bool claimed;

	if (agent_returns.list[i].level)
		return;
	claimed = state_of(word) == AGENT_RETURN_SET &&
		  change_word(&agent_returns.slots[i], word,
			      slot | AGENT_RETURN_CLAIMED);
	if (!claimed && !is_own(i))
		return;
	if (!put_slot_back(thread, i, slot, sp))
		word = 0;
	if (claimed)
		__atomic_store_n(&agent_returns.slots[i], word,
				 __ATOMIC_RELEASE);
}

/* The agent's own frames, as far as they are looked at here. */
#define OWN_FRAMES 512

/*
 * The thread's own may lie below as well: it may be on the stack that it has for
 * signals. On a stack that is known to be another thread's a coroutine may go on that
 * has begun there: who walks stands on it then.
 */
static bool may_be_ours(unsigned i, uint64_t word, uint64_t sp)
{
	const struct agent_return *own = &agent_returns.list[i];
	const uint64_t slot = word & ~(uint64_t)AGENT_RETURN_STATES;
	const uint64_t here = (uint64_t)__builtin_frame_address(0);

	if (is_set(word) && is_own(i))
		return slot >= sp || slot < here - OWN_FRAMES;
	return state_of(word) == AGENT_RETURN_SET && slot >= sp &&
	       slot - sp < AGENT_NEAR &&
	       (!own->stack_high || sp >= own->stack_low);
}

RARE void put_all_back(const struct agent_thread *thread, uint64_t sp)
{
	unsigned i;

	for (i = 0; i < AGENT_RETURNS; i++) {
		const uint64_t word = __atomic_load_n(&agent_returns.slots[i],
						      __ATOMIC_ACQUIRE);

		if (word && may_be_ours(i, word, sp))
			put_back(thread, i, word, sp);
	}
}
