/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_WALK_H
#define CALLTRAP_AGENT_WALK_H

#include "sysdeps/x86_64/agent/agent.h"

/* What a handler needs that comes while frames are written to the stack. */
#define STACK_SPARE 8192

struct stack {
	uint64_t frames[AGENT_DEPTH_MAX];
	unsigned count;
	bool complete;
	bool within; /* a call that a hook has made: it ends there */
};

/* More is wanted of who acquires than can be known here. */
static inline bool is_to_stop(const struct config *config,
			      const struct agent_frame *frame)
{
	return config->mode & AGENT_STOPS &&
	       !(frame->stub->failure & AGENT_ENTRY_ONLY);
}

/* Of a thread whose stack is known, and that is on it. */
static inline bool may_walk(const struct config *config,
			    const struct agent_thread *thread, uint64_t slot)
{
	const uint64_t low = thread->stack_low, high = thread->stack_high;

	return thread->stack_tid == thread->tid && slot < high &&
	       slot - low < high - low && slot - low >= STACK_SPARE &&
	       slot + sizeof(slot) < high && config->depth &&
	       config->depth <= AGENT_DEPTH_MAX;
}

/* log: what isn't a whole walk, or isn't remembered, leaves .count at 0. */
bool take_stack(const struct config *config, const struct agent_thread *thread,
		const struct agent_frame *frame, uint64_t fp,
		struct agent_walk *log, struct stack *ret) HIDDEN;

#endif
