/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_COST_H
#define CALLTRAP_AGENT_COST_H

#include "sysdeps/x86_64/agent/agent.h"

/* Who takes longer has lost the processor, which would have happened anyway. */
#define SAMPLE_MOST (1u << 16)

static inline bool is_sampled(uint64_t ended)
{
	return ended * 0x9e3779b97f4a7c15ull < UINT64_MAX / AGENT_MEASURED;
}

/*
 * From the original's return on. What is done before it is called, and reading
 * the clock a second time, go on beside other work of the processor.
 */
void sample(const struct config *config, const struct agent_thread *thread,
	    uint64_t ended) HIDDEN;

/* What is done then goes on beside nothing: a walk over the stack, say. */
void sample_entry(const struct config *config,
		  const struct agent_thread *thread, uint64_t began) HIDDEN;

#endif
