/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/cost.h"

#include "sysdeps/x86_64/agent/threads.h"

RARE void sample(const struct config *config, const struct agent_thread *thread,
		 uint64_t ended)
{
	const uint64_t took = ticks() - ended;
	struct agent_block *block;

	if (!thread || !thread->block || took > SAMPLE_MOST)
		return;
	block = block_at(config, thread->block);
	own_add(&block->sampled, 1);
	own_add(&block->sampled_ticks, took);
}

__attribute__((noinline)) void sample_entry(const struct config *config,
					    const struct agent_thread *thread,
					    uint64_t began)
{
	const uint64_t took = ticks() - began;

	if (thread && thread->block &&
	    config->mode & (AGENT_RECORDS | AGENT_COUNTS) &&
	    took <= SAMPLE_MOST)
		own_add(&block_at(config, thread->block)->sampled_ticks, took);
}
