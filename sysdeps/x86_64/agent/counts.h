/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_COUNTS_H
#define CALLTRAP_AGENT_COUNTS_H

#include "sysdeps/x86_64/agent/agent.h"
#include "sysdeps/x86_64/agent/threads.h"

void count_duration(struct agent_block *block, unsigned index,
		    uint64_t took) HIDDEN;

/* It may end in a way that nobody sees: it is counted when it begins. */
static inline bool is_counted(const struct agent_frame *frame)
{
	return frame->stub->failure & AGENT_REPLACES;
}

static inline void count_entry(const struct config *config,
			       const struct agent_thread *thread,
			       const struct agent_frame *frame)
{
	const uint32_t own = thread ? thread->block : 0;
	struct agent_counter *counter =
		&block_at(config, own)->counters[frame->stub->index];

	if (own)
		own_add(&counter->calls, 1);
	else
		common_add(&counter->calls, 1);
}

static inline void count(const struct config *config,
			 struct agent_thread *thread,
			 const struct agent_frame *frame, uint64_t took)
{
	const unsigned index = frame->stub->index;
	const uint32_t own = thread ? thread->block : 0;
	struct agent_block *block = block_at(config, own);
	struct agent_counter *counter = &block->counters[index];
	const bool failed = has_failed(frame);

	if (!is_counted(frame))
		count_entry(config, thread, frame);
	if (own) {
		own_add(&counter->ticks, took);
		if (failed)
			own_add(&counter->failed, 1);
	} else {
		common_add(&counter->ticks, took);
		if (failed)
			common_add(&counter->failed, 1);
	}
	if (config->mode & AGENT_DURATIONS)
		count_duration(block, index, took);
}

#endif
