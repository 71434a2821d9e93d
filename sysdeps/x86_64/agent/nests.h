/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_NESTS_H
#define CALLTRAP_AGENT_NESTS_H

#include "sysdeps/x86_64/agent/agent.h"

/*
 * In a log a call that the agent makes is written down when it has returned. What is
 * called within it is told of earlier, unless somebody knows that it has begun: so each
 * thread has the innermost of these, and each of them the one that it is within. All
 * that is written meanwhile says that it is an inner one.
 */

static inline bool is_made_by_agent(const struct agent_frame *frame)
{
	return !(frame->stub->failure & AGENT_REPLACES);
}

/* One that is no deeper on the stack was jumped out of. */
static inline void begin_within(struct agent_thread *thread,
				struct agent_frame *frame)
{
	const uint64_t outer = thread->within;
	const bool stays = outer == AGENT_NEST_TOLD ||
			   agent_is_within(outer, frame->slot);

	frame->outer = stays ? outer : 0;
	if (is_forked())
		return;
	__atomic_store_n(&thread->within, frame->slot, __ATOMIC_RELEASE);
}

/* What was told of while it began came before. */
static inline bool may_begin_anew(const struct agent_thread *thread)
{
	return !__atomic_load_n(&thread->within, __ATOMIC_ACQUIRE) &&
	       !is_forked();
}

/* Unless calltrap has told of it meanwhile. */
static inline void end_within(struct agent_thread *thread,
			      const struct agent_frame *frame)
{
	if (thread->within == frame->slot && !is_forked())
		__atomic_store_n(&thread->within, frame->outer,
				 __ATOMIC_RELEASE);
}

/* AGENT_IS_INNER, or 0: for its record, or its entry. */
static inline uint32_t inner_flag(const struct config *config,
				  const struct agent_thread *thread,
				  const struct agent_frame *frame)
{
	const uint64_t outer = is_made_by_agent(frame) ? frame->outer :
							 thread->within;

	return config->mode & AGENT_RECORDS &&
			       agent_is_within(outer, frame->slot) ?
		       AGENT_IS_INNER :
		       0;
}

#endif
