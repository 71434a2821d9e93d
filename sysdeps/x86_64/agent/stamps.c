/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/stamps.h"

#include "sysdeps/x86_64/agent/returns.h"

/*
 * A handler that has read it in between may have gone on with that: then it is read once
 * more, as no later call may have an earlier one. It is read behind the word that says who
 * is alone: whoever hadn't seen the grant has an earlier time.
 */
uint64_t exact_stamp(struct agent_block *block,
		     const struct agent_thread *thread, uint64_t sole)
{
	uint64_t before, now, seen;

	do {
		before = __atomic_load_n(&block->read, __ATOMIC_RELAXED);
		seen = sole;
		now = ticks_behind() | AGENT_TIMED;
		sole = sole_now();
		if (((uint32_t)sole != thread->block && sole == seen) ||
		    is_forked())
			return now;
	} while (sole != seen ||
		 !change_own_word(&block->read, before, now + 1));
	__atomic_store_n(&block->sole, sole, __ATOMIC_RELEASE);
	return now;
}
