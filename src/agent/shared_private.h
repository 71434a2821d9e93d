/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SHARED_PRIVATE_H
#define CALLTRAP_SHARED_PRIVATE_H

#include "agent/shared.h"

static inline uint64_t block_offset(unsigned block)
{
	return shared_blocks_offset() + block * shared_block_size();
}

static inline struct agent_block *block_at(const struct shared *shared,
					   unsigned block)
{
	return (struct agent_block *)((char *)shared->memory +
				      block_offset(block));
}

#endif
