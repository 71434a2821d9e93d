/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/threads.h"

static uint32_t take_offer(uint32_t *offer_ret)
{
	uint32_t i, block;

	for (i = 0; i < AGENT_OFFERS; i++) {
		/* Else clang makes sixteen copies of this. */
		__asm__("" : "+r"(i));
		if (!agent_shared.offers[i])
			continue;
		block = __atomic_exchange_n(&agent_shared.offers[i], 0,
					    __ATOMIC_ACQ_REL);
		*offer_ret = i;
		if (block)
			return block;
	}
	return 0;
}

RARE void take_block(struct agent_thread *thread)
{
	uint32_t none = 0, offer, block = take_offer(&offer);

	if (block &&
	    !__atomic_compare_exchange_n(&thread->block, &none, block, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		__atomic_store_n(&agent_shared.offers[offer], block,
				 __ATOMIC_RELEASE);
}

/* The pointer is this thread's; whose the entry was before has ended. */
static struct agent_thread *adopt(struct agent_thread *thread, uint32_t tid)
{
	uint32_t former = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

	if (former != tid &&
	    (former == AGENT_RELEASED ||
	     !__atomic_compare_exchange_n(&thread->tid, &former, tid, false,
					  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
		return NULL;
	if (former != tid) {
		thread->within = 0;
		thread->trapped = 0;
	}
	if (!thread->block)
		take_block(thread);
	return thread;
}

RARE struct agent_thread *claim(uint64_t pointer, uint32_t tid)
{
	const unsigned home = agent_thread_home(pointer);
	unsigned i;

	for (i = 0; i < AGENT_PROBING; i++)
		if (entry_at(home + i)->pointer == pointer)
			return adopt(entry_at(home + i), tid);
	for (i = 0; i < AGENT_PROBING; i++) {
		uint64_t nobody = 0;

		if (!entry_at(home + i)->pointer &&
		    __atomic_compare_exchange_n(&entry_at(home + i)->pointer,
						&nobody, pointer, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return adopt(entry_at(home + i), tid);
	}
	return NULL;
}
