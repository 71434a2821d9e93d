/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_ENTRIES_H
#define CALLTRAP_AGENT_ENTRIES_H

#include "sysdeps/x86_64/agent/agent.h"
#include "sysdeps/x86_64/agent/capture.h"
#include "sysdeps/x86_64/agent/returns.h"
#include "sysdeps/x86_64/agent/walk.h"

/* What begins there comes next, in the thread's own block. Never 0. */
static inline uint64_t end_of_entry(const struct agent_thread *thread,
				    uint64_t position)
{
	return position ^ (uint64_t)thread->block << 48;
}

void write_entry(const struct config *config, const struct agent_thread *thread,
		 struct agent_frame *frame, const struct stack *stack,
		 const struct pieces *pieces, uint64_t flags,
		 uint64_t name) HIDDEN;

/*
 * Somebody must be there for the trap, or it kills. Without a fresh sign of
 * life, one is waited for; what is still missing at the end of the patience
 * isn't told of.
 */
enum way go_by_trap(const struct config *config) HIDDEN;

static inline uint64_t tail_flag(const struct agent_frame *frame)
{
	return frame->return_address == PLACE ? AGENT_TAIL_CALL : 0;
}

/* A handler may have come since, and have walked over the stack, or forked. */
static inline bool is_still_replaced(const struct agent_frame *frame)
{
	return *(const volatile uint64_t *)frame->slot == PLACE && READ(on);
}

/* Whether its return is to be told, and how. */
static inline bool may_go_on(const struct agent_thread *thread,
			     struct agent_frame *frame)
{
	return !(frame->stub->failure & AGENT_REPLACES) ||
	       (replace_return(thread, frame) && is_still_replaced(frame));
}

static inline enum way way_on(const struct agent_frame *frame)
{
	return frame->stub->failure & (AGENT_ENTRY_ONLY | AGENT_REPLACES) ?
		       BY_JUMP :
		       BY_CALL;
}

#endif
