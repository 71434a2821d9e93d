/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/ring.h"

#include <string.h>

static uint64_t word_at(const struct ring *ring, uint64_t position)
{
	return __atomic_load_n(&ring->words[position & (ring->size - 1)],
			       __ATOMIC_ACQUIRE);
}

static unsigned least_words(const struct ring *ring)
{
	return ring->watches || ring->entries ? AGENT_WATCH_FIXED :
						AGENT_RECORD_FIXED;
}

_Static_assert(AGENT_WATCH_FIXED < AGENT_RECORD_FIXED, "the shorter one");
_Static_assert(AGENT_WATCH_WORDS > AGENT_RECORD_WORDS, "the longer one");

static unsigned most_words(const struct ring *ring)
{
	return ring->watches || ring->entries ? AGENT_WATCH_WORDS :
						AGENT_RECORD_WORDS;
}

/* How many words the record at a position has; 0: it isn't written yet. */
static unsigned length_at(const struct ring *ring, uint64_t position)
{
	const uint64_t header = word_at(ring, position);
	const unsigned words = header & 0xffff;

	if (words < least_words(ring) || words > most_words(ring) ||
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
	take_pieces(ring, AGENT_RECORD_FIXED + ret->argument_count, words, ret);
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
			address - address_of(record, record->pieces[at] >> 16);

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

/* How many words there are to be taken; 0: the record isn't whole yet. */
static unsigned next_length(struct ring *ring, uint64_t head)
{
	unsigned words;

	keep_up(ring, head);
	words = length_at(ring, ring->position);
	return words > head - ring->position ? 0 : words;
}

static bool is_at_entry(const struct ring *ring)
{
	return ring->entries &&
	       (word_at(ring, ring->position + AGENT_WATCH_STUB) >> 8 & 0xff) ==
		       AGENT_IS_ENTRY;
}

bool ring_read(struct ring *ring, uint64_t head, struct agent_record *ret,
	       uint64_t pieces[AGENT_PIECE_WORDS])
{
	for (;;) {
		const unsigned words = next_length(ring, head);

		if (!words || is_at_entry(ring))
			return false;
		if (words >= AGENT_RECORD_FIXED)
			take(ring, words, pieces, ret);
		ring->position += words;
		if (words >= AGENT_RECORD_FIXED)
			return true;
		ring->lost++;
	}
}

/* What follows an entry's fixed words; false when that can't be right. */
static bool take_entry(const struct ring *ring, unsigned words, uint64_t value,
		       struct agent_watched *ret)
{
	uint64_t at = ring->position + AGENT_WATCH_FIXED;
	const unsigned frames = ret->known ? 1 : value & 0xffff;
	unsigned i;

	if (words == AGENT_WATCH_FIXED)
		return false;
	words -= AGENT_WATCH_FIXED + 1;
	if (frames > AGENT_DEPTH_MAX || frames > words ||
	    words - frames > AGENT_ARGUMENTS)
		return false;
	ret->complete = value & AGENT_COMPLETE;
	ret->tail_call = value & AGENT_TAIL_CALL;
	ret->choice = agent_choice_of(value);
	ret->rate = agent_rate_of(value);
	ret->frame_count = frames;
	ret->argument_count = words - frames;
	for (i = 0; i < ret->argument_count; i++)
		ret->arguments[i] = word_at(ring, at++);
	for (i = 0; i < frames; i++)
		ret->frames[i] = word_at(ring, at++);
	ret->walk = word_at(ring, at);
	return true;
}

static bool take_return(const struct ring *ring, unsigned words,
			struct agent_watched *ret)
{
	const uint64_t at = ring->position + AGENT_WATCH_FIXED + 1;

	if (words == AGENT_WATCH_STORED_WORDS) {
		ret->stored_at = word_at(ring, at);
		ret->stored = word_at(ring, at + 1);
		return true;
	}
	return words == AGENT_WATCH_RETURN_WORDS;
}

static bool take_watched(const struct ring *ring, unsigned words,
			 struct agent_watched *ret)
{
	const uint64_t at = ring->position;
	const uint64_t stub = word_at(ring, at + AGENT_WATCH_STUB);
	const uint64_t value = word_at(ring, at + AGENT_WATCH_VALUE);

	ret->kind = (enum agent_watch_kind)(stub >> 16 & 0xffff);
	ret->time = word_at(ring, at + AGENT_WATCH_TIME);
	ret->slot = word_at(ring, at + AGENT_WATCH_SLOT);
	ret->stub = stub & 0xff;
	ret->tid = (pid_t)(stub >> 32);
	ret->result = value;
	ret->return_address = word_at(ring, at + AGENT_WATCH_FIXED);
	ret->stored_at = 0;
	ret->tail_call = false;
	ret->choice = AGENT_CHOICE_OPEN;
	ret->unmarked = ret->kind == AGENT_WATCH_UNMARKED;
	if (ret->unmarked)
		ret->kind = AGENT_WATCH_RETURN;
	ret->known = ret->kind == AGENT_WATCH_KNOWN;
	if (ret->known)
		ret->kind = AGENT_WATCH_ENTRY;
	if (ret->kind == AGENT_WATCH_RETURN)
		return take_return(ring, words, ret);
	return ret->kind == AGENT_WATCH_ENTRY &&
	       take_entry(ring, words, value, ret);
}

bool ring_read_entry(struct ring *ring, uint64_t head,
		     struct agent_watched *ret)
{
	for (;;) {
		const unsigned words = next_length(ring, head);
		bool right;

		if (!words || !is_at_entry(ring))
			return false;
		right = take_watched(ring, words, ret) &&
			ret->kind == AGENT_WATCH_ENTRY;
		ring->position += words;
		if (right)
			return true;
		ring->lost++;
	}
}

bool ring_read_watched(struct ring *ring, uint64_t head,
		       struct agent_watched *ret)
{
	for (;;) {
		const unsigned words = next_length(ring, head);
		bool right;

		if (!words)
			return false;
		right = take_watched(ring, words, ret);
		ring->position += words;
		if (right)
			return true;
		ring->lost++;
	}
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
