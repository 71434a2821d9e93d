/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/ring.h"

#include <string.h>

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

static void take_pieces(const struct ring *ring, unsigned at, unsigned words,
			struct agent_record *ret)
{
	unsigned i;

	ret->piece_words = words - at < AGENT_PIECE_WORDS ? words - at :
							    AGENT_PIECE_WORDS;
	for (i = 0; i < ret->piece_words; i++)
		ret->pieces[i] = word_at(ring, ring->position + at + i);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void take(const struct ring *ring, unsigned words, uint64_t *pieces,
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
		.argument_count = least(stub >> 8 & 0xff,
					least(AGENT_ARGUMENTS,
					      words - AGENT_RECORD_FIXED)),
		.pieces = pieces,
		.stub = stub & 0xff,
		.tid = (pid_t)(stub >> 32),
	};
	for (i = 0; i < ret->argument_count; i++)
		ret->arguments[i] = word_at(ring, at + AGENT_RECORD_FIXED + i);
	if ((stub >> 16 & 0xffff) < 4096)
		ret->error = (int)(stub >> 16 & 0xffff);
	take_pieces(ring, AGENT_RECORD_FIXED + ret->argument_count, words,
		    ret);
}

static uint64_t address_of(const struct agent_record *record, uint64_t which)
{
	if (which == AGENT_CAPTURE_RESULT)
		return record->result;
	return which < AGENT_ARGUMENTS ? record->arguments[which] : 0;
}

/* Several may have it: the one that goes on for longest is it. */
size_t record_memory(const struct agent_record *record, uint64_t address,
		     void *ret, size_t size)
{
	uint64_t at = 0, next, most = 0;
	const char *found = NULL;

	for (; at < record->piece_words; at = next) {
		const uint64_t bytes = record->pieces[at] & 0xffff;
		const uint64_t skip =
			address -
			address_of(record, record->pieces[at] >> 16);

		next = at + 1 + (bytes + 7) / 8;
		if (next > record->piece_words)
			break;
		if (skip >= bytes || bytes - skip <= most)
			continue;
		most = bytes - skip;
		found = (const char *)&record->pieces[at + 1] + skip;
	}
	if (size > most)
		size = most;
	if (size)
		memcpy(ret, found, size);
	return size;
}

bool ring_read(struct ring *ring, uint64_t head, struct agent_record *ret,
	       uint64_t pieces[AGENT_PIECE_WORDS])
{
	unsigned words;

	keep_up(ring, head);
	words = length_at(ring, ring->position);
	if (!words || words > head - ring->position)
		return false;
	take(ring, words, pieces, ret);
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
