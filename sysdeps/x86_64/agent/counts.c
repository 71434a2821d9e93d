/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/counts.h"

static uint32_t *part_of(struct agent_histogram *histogram, uint64_t number)
{
	unsigned octave = 0;

	if (number >= AGENT_PARTS)
		octave = 63 - __builtin_clzll(number) - 4;
	if (octave >= AGENT_OCTAVES)
		return &histogram->counts[AGENT_OCTAVES - 1][AGENT_PARTS - 1];
	if (octave)
		number >>= octave - 1;
	return &histogram->counts[octave][number % AGENT_PARTS];
}

void count_duration(struct agent_block *block, unsigned index, uint64_t took)
{
	uint32_t *part;

	part = part_of(&agent_histograms(block)[index], took);
	__atomic_fetch_add(part, 1, __ATOMIC_RELAXED);
	if (took > block->counters[index].longest)
		block->counters[index].longest = took;
}
