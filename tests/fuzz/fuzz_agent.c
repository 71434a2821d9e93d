/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring that the traced program has written what it likes to: positions,
 * lengths and words. Whatever is read, each step goes on or stops.
 */
#include <string.h>

#include "agent/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define WORDS 256u

static void check(const struct agent_record *record)
{
	char bytes[300];

	if (record->argument_count > AGENT_ARGUMENTS ||
	    record->float_count > AGENT_FLOATS || record->error < 0 ||
	    record->error >= 4096)
		__builtin_trap();
	if (record->piece_words > AGENT_PIECE_WORDS ||
	    record_memory(record, record->result, bytes, sizeof(bytes)) >
		    sizeof(bytes))
		__builtin_trap();
}

static void check_watched(const struct agent_watched *watched)
{
	if (watched->kind != AGENT_WATCH_ENTRY &&
	    watched->kind != AGENT_WATCH_RETURN)
		__builtin_trap();
	if (watched->kind == AGENT_WATCH_ENTRY &&
	    (watched->argument_count > AGENT_ARGUMENTS ||
	     watched->float_count > AGENT_FLOATS ||
	     watched->frame_count > AGENT_DEPTH_MAX ||
	     watched->piece_words > AGENT_PIECE_WORDS))
		__builtin_trap();
}

static bool read_one(struct ring *ring, uint64_t head)
{
	uint64_t pieces[AGENT_PIECE_WORDS];
	struct agent_watched entry;
	struct agent_record record;

	if (ring_read(ring, head, &record, pieces)) {
		check(&record);
		return true;
	}
	if (!ring_read_entry(ring, head, &entry))
		return false;
	check_watched(&entry);
	if (entry.kind != AGENT_WATCH_ENTRY)
		__builtin_trap();
	return true;
}

/* What handlers have written behind one that isn't finished, each once. */
static void read_ahead(struct ring *ring, uint64_t head)
{
	const uint64_t position = ring->position;
	unsigned steps = 0;

	while (ring_find(ring, head)) {
		const uint64_t at = ring->position;

		if (head - at > WORDS)
			__builtin_trap();
		if (!read_one(ring, head))
			break;
		ring_mark(ring, at);
		if (++steps > WORDS)
			__builtin_trap();
	}
	ring->position = position;
}

/* As calltrap does: what isn't withheld isn't passed over. */
static void pass_over(struct ring *ring, uint64_t head)
{
	(void)ring_is_left(ring, head);
	ring_withhold(ring, head);
	if (ring->withheld.to)
		ring_pass_over(ring, head);
}

static void read_all(struct ring *ring, uint64_t head)
{
	uint64_t steps = 0, before;

	do {
		before = ring->position;
		while (read_one(ring, head))
			if (++steps > WORDS)
				__builtin_trap();
		if (head - ring->position > WORDS)
			__builtin_trap();
		read_ahead(ring, head);
		pass_over(ring, head);
	} while (ring->position != before && ring->position != head);
	ring_give_up(ring, head);
	if (ring->position != head)
		__builtin_trap();
}

/* Returns how many entries and returns there were. */
static uint64_t read_watched(struct ring *ring, uint64_t head, bool joins)
{
	struct agent_watched watched;
	uint64_t steps = 0, before;

	do {
		before = ring->position;
		while (ring_read_watched(ring, head, joins, &watched)) {
			check_watched(&watched);
			steps += watched.has_ended;
			if (++steps > WORDS)
				__builtin_trap();
		}
		pass_over(ring, head);
	} while (ring->position != before && ring->position != head);
	return steps;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static uint64_t words[WORDS];
	struct ring ring = { .words = words, .size = WORDS };
	struct ring stacks = { words, WORDS, .entries = true };
	struct ring watching = { words, WORDS, .watches = true };
	struct ring joining = watching;
	uint64_t heads[3] = { 0 };
	unsigned i;

	memset(words, 0, sizeof(words));
	if (size < sizeof(heads))
		return 0;
	memcpy(heads, bytes, sizeof(heads));
	bytes += sizeof(heads);
	size -= sizeof(heads);
	memcpy(words, bytes, size < sizeof(words) ? size : sizeof(words));
	for (i = 0; i < 3; i++) {
		read_all(&ring, heads[i]);
		read_all(&stacks, heads[i]);
		/* Joined or not, there is as much. */
		if (read_watched(&watching, heads[i], false) !=
			    read_watched(&joining, heads[i], true) ||
		    watching.lost != joining.lost)
			__builtin_trap();
	}
	ring_fini(&ring);
	ring_fini(&stacks);
	ring_fini(&joining);
	ring_fini(&watching);
	return 0;
}
