/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/ring.h"

static uint64_t word_at(const struct ring *ring, uint64_t position)
{
	return __atomic_load_n(&ring->words[position & (ring->size - 1)],
			       __ATOMIC_ACQUIRE);
}

/* How many words the record at a position has; 0: it isn't written yet. */
static unsigned length_at(const struct ring *ring, uint64_t position)
{
	const uint64_t header = word_at(ring, position);
	const unsigned words = header & 0xffff;

	if (words < AGENT_RECORD_FIXED || words > AGENT_RECORD_WORDS ||
	    header != agent_record_header(position, words))
		return 0;
	return words;
}

/* The first word that is still there, if the position is no such any more. */
static void keep_up(struct ring *ring, uint64_t head)
{
	if (head - ring->position <= ring->size)
		return;
	ring->position = head;
	ring->lost++;
}

static void take(const struct ring *ring, unsigned words,
		 struct agent_record *ret)
{
	const uint64_t at = ring->position;
	const uint64_t stub = word_at(ring, at + AGENT_WORD_STUB);
	unsigned i;

	*ret = (struct agent_record){
		.began = word_at(ring, at + AGENT_WORD_BEGAN),
		.ended = word_at(ring, at + AGENT_WORD_ENDED),
		.return_address = word_at(ring, at + AGENT_WORD_RETURN),
		.slot = word_at(ring, at + AGENT_WORD_SLOT),
		.result = word_at(ring, at + AGENT_WORD_RESULT),
		.argument_count = words - AGENT_RECORD_FIXED,
		.stub = stub & 0xffff,
		.tid = (pid_t)(stub >> 32),
	};
	for (i = 0; i < ret->argument_count; i++)
		ret->arguments[i] = word_at(ring, at + AGENT_RECORD_FIXED + i);
	if ((stub >> 16 & 0xffff) < 4096)
		ret->error = (int)(stub >> 16 & 0xffff);
}

bool ring_read(struct ring *ring, uint64_t head, struct agent_record *ret)
{
	unsigned words;

	keep_up(ring, head);
	words = length_at(ring, ring->position);
	if (!words || words > head - ring->position)
		return false;
	take(ring, words, ret);
	ring->position += words;
	return true;
}

void ring_pass_over(struct ring *ring, uint64_t head)
{
	keep_up(ring, head);
	if (ring->position == head)
		return;
	ring->lost++;
	do
		ring->position++;
	while (ring->position != head && !length_at(ring, ring->position));
}
