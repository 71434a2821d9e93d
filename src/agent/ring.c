/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Where the calls have come from that have this walk, and those that had the one
 * before in this place: a handler may come between that one's being found and told
 * of.
 */
struct ring_walk {
	struct walk_place {
		uint64_t name; /* agent_walk_name(); 0: none */
		taddr_t slot, return_address;
	} places[2];
};

/* As struct agent_told has it, as far as it has been read. */
struct ring_told {
	uint64_t name; /* 0: something was lost */
	unsigned count;
	taddr_t frames[AGENT_DEPTH_MAX];
};

void ring_fini(struct ring *ring)
{
	free(ring->walks);
	free(ring->told);
	ring->walks = NULL;
	ring->told = NULL;
}

static void forget_told(struct ring *ring)
{
	if (ring->told)
		ring->told->name = 0;
}

static uint64_t word_at(const struct ring *ring, uint64_t position)
{
	return __atomic_load_n(&ring->words[position & (ring->size - 1)],
			       __ATOMIC_ACQUIRE);
}

static unsigned least_words(const struct ring *ring)
{
	return ring->watches || ring->entries ? AGENT_WATCH_SHORT :
						AGENT_RECORD_FIXED;
}

_Static_assert((int)AGENT_WATCH_SHORT < (int)AGENT_RECORD_FIXED, "the shorter");
_Static_assert(AGENT_WATCH_WORDS > AGENT_RECORD_WORDS, "the longer one");

static unsigned most_words(const struct ring *ring)
{
	return ring->watches || ring->entries ? AGENT_WATCH_WORDS :
						AGENT_RECORD_WORDS;
}

/* Beside its words: calltrap has read it before one that stands before it. */
#define WAS_READ 0x8000u

#define MARKS ((uint64_t)(WAS_READ | AGENT_TAKEN))

_Static_assert(AGENT_WATCH_WORDS < AGENT_TAKEN, "there is room for both");

/* How many words the record at a position has; 0: it isn't written yet. */
static unsigned length_at(const struct ring *ring, uint64_t position)
{
	const uint64_t header = word_at(ring, position) & ~MARKS;
	const unsigned words = header & 0xffff;

	if (words < least_words(ring) || words > most_words(ring) ||
	    header != agent_record_header(position, words))
		return 0;
	return words;
}

static bool was_read(const struct ring *ring, uint64_t position)
{
	return word_at(ring, position) & WAS_READ;
}

void ring_mark(const struct ring *ring, uint64_t position)
{
	__atomic_fetch_or(&ring->words[position & (ring->size - 1)],
			  (uint64_t)WAS_READ, __ATOMIC_RELAXED);
}

/* The first word that is still there, if the position is no such any more. */
static void keep_up(struct ring *ring, uint64_t head)
{
	if (head - ring->position <= ring->size)
		return;
	ring->position = head;
	ring->lost++;
	ring->misses_walks = true;
	forget_told(ring);
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
	const unsigned most = words - AGENT_RECORD_FIXED;
	const unsigned arguments =
		least(agent_arguments_in(stub), least(AGENT_ARGUMENTS, most));
	const unsigned floats = least(agent_floats_in(stub),
				      least(AGENT_FLOATS, most - arguments));
	unsigned i;

	*ret = (struct agent_record){
		.began = word_at(ring, at + AGENT_WORD_BEGAN),
		.ended = word_at(ring, at + AGENT_WORD_ENDED),
		.return_address = word_at(ring, at + AGENT_WORD_RETURN),
		.slot = word_at(ring, at + AGENT_WORD_SLOT),
		.result = word_at(ring, at + AGENT_WORD_RESULT),
		.argument_count = arguments,
		.float_count = floats,
		.is_float = stub >> 16 & AGENT_IS_FLOAT,
		.inner = stub >> 8 & AGENT_IS_INNER,
		.pieces = pieces,
		.stub = stub & 0xff,
		.tid = (pid_t)(stub >> 32),
	};
	for (i = 0; i < arguments; i++)
		ret->arguments[i] = word_at(ring, at + AGENT_RECORD_FIXED + i);
	for (i = 0; i < floats; i++)
		ret->floats[i] =
			word_at(ring, at + AGENT_RECORD_FIXED + arguments + i);
	if ((stub >> 16 & 0xffff) < 4096)
		ret->error = (int)(stub >> 16 & 0xffff);
	take_pieces(ring, AGENT_RECORD_FIXED + arguments + floats, words, ret);
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
	uint64_t at = 0, next, most = 0, before = 0;
	const char *found = NULL;

	for (; at < record->piece_words; at = next) {
		const uint64_t bytes = record->pieces[at] & 0xffff;
		const uint64_t which = record->pieces[at] >> 16;
		const uint64_t skip =
			address - (which == AGENT_PIECE_BEHIND ?
					   before :
					   address_of(record, which));

		next = at + 1 + (bytes + 7) / 8;
		if (next > record->piece_words)
			break;
		before = bytes < sizeof(before) ? 0 : record->pieces[at + 1];
		if (skip >= bytes || bytes - skip <= most ||
		    which == AGENT_CAPTURE_GONE)
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

static bool is_withheld(const struct ring *ring)
{
	return ring->position - ring->withheld.from <
	       ring->withheld.to - ring->withheld.from;
}

/* How many words there are to be taken; 0: the record isn't whole yet. */
static unsigned next_length(struct ring *ring, uint64_t head)
{
	unsigned words;

	keep_up(ring, head);
	for (;;) {
		if (is_withheld(ring))
			return 0;
		words = length_at(ring, ring->position);
		if (words > head - ring->position)
			return 0;
		if (!words || !was_read(ring, ring->position))
			return words;
		ring->position += words;
	}
}

bool ring_find(struct ring *ring, uint64_t head)
{
	while (ring->position != head) {
		if (next_length(ring, head))
			return true;
		if (ring->position != head)
			ring->position++;
	}
	return false;
}

static bool is_at_entry(const struct ring *ring)
{
	const uint64_t stub = word_at(ring, ring->position + AGENT_WATCH_STUB);

	return ring->entries && stub >> 8 & AGENT_IS_ENTRY;
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

/* ---- walks ---- */

static void remember_walk(struct ring *ring, const struct agent_watched *entry)
{
	struct walk_place *places;

	if (!entry->walk || !entry->frame_count)
		return;
	if (!ring->walks)
		ring->walks = xcalloc(AGENT_KEPT_WALKS, sizeof(*ring->walks));
	places = ring->walks[entry->walk % AGENT_KEPT_WALKS].places;
	places[1] = places[0];
	places[0] = (struct walk_place){ entry->walk, entry->slot,
					 entry->frames[0] };
}

static const struct walk_place *find_walk(const struct ring *ring,
					  uint64_t name)
{
	const struct walk_place *places;

	if (!ring->walks || !name)
		return NULL;
	places = ring->walks[name % AGENT_KEPT_WALKS].places;
	if (places[0].name == name)
		return &places[0];
	return places[1].name == name ? &places[1] : NULL;
}

/* ---- watched calls ---- */

static void take_arguments(const struct ring *ring, uint64_t at, unsigned count,
			   unsigned floats, struct agent_watched *ret)
{
	unsigned i;

	ret->argument_count = count;
	ret->float_count = floats;
	for (i = 0; i < count; i++)
		ret->arguments[i] = word_at(ring, at + i);
	for (i = 0; i < floats; i++)
		ret->floats[i] = word_at(ring, at + count + i);
}

/* Of so many words for arguments; false when that can't be right. */
static bool may_be_arguments(unsigned words, unsigned floats)
{
	return floats <= AGENT_FLOATS && floats <= words &&
	       words - floats <= AGENT_ARGUMENTS;
}

static void take_entry_pieces(const struct ring *ring, uint64_t at,
			      unsigned words, struct agent_watched *ret)
{
	unsigned i;

	ret->piece_words = words;
	for (i = 0; i < words; i++)
		ret->pieces[i] = word_at(ring, at + i);
}

/* Whether the outer frames that don't follow are known. */
static bool knows_kept(struct ring *ring, uint64_t value)
{
	const struct ring_told *told = ring->told;
	const unsigned kept = agent_kept_of(value);

	if (!kept)
		return true;
	if (told && told->name && kept <= told->count &&
	    agent_kept_bits(kept, told->name) >> 48 == value >> 48)
		return true;
	ring->misses_walks = true;
	return false;
}

/* Behind those that are there. */
static void take_kept(const struct ring *ring, unsigned kept,
		      struct agent_watched *ret)
{
	while (kept--)
		ret->frames[ret->frame_count++] = ring->told->frames[kept];
}

/* The outer ones of before are among them. */
static void keep_told(struct ring *ring, unsigned kept,
		      const struct agent_watched *entry)
{
	struct ring_told *told;
	unsigned i;

	if (!ring->told)
		ring->told = xcalloc(1, sizeof(*ring->told));
	told = ring->told;
	for (i = kept; i < entry->frame_count; i++)
		told->frames[i] = entry->frames[entry->frame_count - 1 - i];
	told->count = entry->frame_count;
	told->name = entry->walk;
}

/* What follows an entry's fixed words; false when that can't be right. */
static bool take_entry(struct ring *ring, unsigned words, unsigned floats,
		       struct agent_watched *ret)
{
	uint64_t at = ring->position + AGENT_WATCH_FIXED;
	const uint64_t value = word_at(ring, at - 1);
	const unsigned frames = value & 0xffff, kept = agent_kept_of(value);
	const unsigned pieces = agent_pieces_of(value);
	unsigned i;

	if (words <= AGENT_WATCH_FIXED)
		return false;
	words -= AGENT_WATCH_FIXED + 1;
	if (pieces > words || pieces > AGENT_PIECE_WORDS)
		return false;
	words -= pieces;
	if (frames + kept > AGENT_DEPTH_MAX || frames > words ||
	    !may_be_arguments(words - frames, floats) ||
	    !knows_kept(ring, value))
		return false;
	ret->known = false;
	ret->complete = value & AGENT_COMPLETE;
	ret->tail_call = value & AGENT_TAIL_CALL;
	ret->choice = agent_choice_of(value);
	ret->rate = agent_rate_of(value);
	ret->frame_count = frames;
	take_arguments(ring, at, words - frames - floats, floats, ret);
	at += words - frames;
	for (i = 0; i < frames; i++)
		ret->frames[i] = word_at(ring, at++);
	take_kept(ring, kept, ret);
	ret->walk = word_at(ring, at++);
	if (value & AGENT_TOLD)
		keep_told(ring, kept, ret);
	take_entry_pieces(ring, at, pieces, ret);
	return true;
}

/* One whose walk was told of before. */
static bool take_known(struct ring *ring, unsigned words, unsigned floats,
		       unsigned pieces, struct agent_watched *ret)
{
	const uint64_t name = word_at(ring, ring->position + AGENT_WATCH_NAME);
	const struct walk_place *place = find_walk(ring, name);

	words -= AGENT_WATCH_SHORT;
	ring->misses_walks |= !place;
	if (!place || pieces > words || pieces > AGENT_PIECE_WORDS ||
	    !may_be_arguments(words - pieces, floats))
		return false;
	words -= pieces;
	take_arguments(ring, ring->position + AGENT_WATCH_SHORT, words - floats,
		       floats, ret);
	take_entry_pieces(ring, ring->position + AGENT_WATCH_SHORT + words,
			  pieces, ret);
	ret->kind = AGENT_WATCH_ENTRY;
	ret->known = true;
	ret->complete = false;
	ret->choice = AGENT_CHOICE_OPEN;
	ret->rate = 0;
	ret->walk = name;
	ret->slot = place->slot;
	ret->frame_count = 1;
	ret->frames[0] = place->return_address;
	return true;
}

static bool take_return(const struct ring *ring, unsigned words,
			struct agent_watched *ret)
{
	const uint64_t at = ring->position + AGENT_WATCH_FIXED;

	ret->result = word_at(ring, at - 1);
	ret->return_address = word_at(ring, at);
	if (words == AGENT_WATCH_STORED_WORDS) {
		ret->stored_at = word_at(ring, at + 1);
		ret->stored = word_at(ring, at + 2);
		return true;
	}
	return words == AGENT_WATCH_RETURN_WORDS;
}

/* Of the entry right before. */
static bool take_following(const struct ring *ring, unsigned words,
			   struct agent_watched *ret)
{
	const uint64_t at = ring->position;

	if (words != AGENT_WATCH_SHORT || !at || at != ring->entry_end)
		return false;
	ret->kind = AGENT_WATCH_RETURN;
	ret->result = word_at(ring, at + AGENT_WATCH_RESULT);
	ret->slot = ring->entry_slot;
	ret->return_address = ring->entry_return_address;
	return true;
}

/* A kind that the program has written is none. */
static bool take_watched(struct ring *ring, unsigned words,
			 struct agent_watched *ret)
{
	const uint64_t at = ring->position;
	const uint64_t stub = word_at(ring, at + AGENT_WATCH_STUB);
	const unsigned pieces = stub >> 24 & 0xff;
	const unsigned floats = agent_floats_in(stub);

	ret->kind = (enum agent_watch_kind)(stub >> 16 & 0xff);
	ret->time = word_at(ring, at + AGENT_WATCH_TIME);
	ret->slot = word_at(ring, at + AGENT_WATCH_SLOT);
	ret->stub = stub & 0xff;
	ret->tid = (pid_t)(stub >> 32);
	ret->inner = stub >> 8 & AGENT_IS_INNER;
	ret->return_address = ret->result = 0;
	ret->stored_at = 0;
	ret->tail_call = false;
	ret->has_ended = false;
	ret->choice = AGENT_CHOICE_OPEN;
	ret->unmarked = false;
	if (pieces && ret->kind != AGENT_WATCH_KNOWN)
		return false;
	switch (ret->kind) {
	case AGENT_WATCH_KNOWN:
		return take_known(ring, words, floats, pieces, ret);
	case AGENT_WATCH_FOLLOWS:
		return take_following(ring, words, ret);
	case AGENT_WATCH_ENTRY:
		return take_entry(ring, words, floats, ret);
	case AGENT_WATCH_UNMARKED:
		ret->unmarked = true;
		ret->kind = AGENT_WATCH_RETURN;
		return take_return(ring, words, ret);
	case AGENT_WATCH_RETURN:
		return take_return(ring, words, ret);
	}
	return false;
}

/* What comes next may be told in fewer words. */
static void note_entry(struct ring *ring, const struct agent_watched *entry,
		       uint64_t end)
{
	ring->entry_end = end;
	ring->entry_slot = entry->slot;
	ring->entry_return_address = entry->frame_count ? entry->frames[0] : 0;
	if (!entry->known)
		remember_walk(ring, entry);
}

static bool read_watched(struct ring *ring, unsigned words,
			 struct agent_watched *ret)
{
	const bool right = take_watched(ring, words, ret);

	ring->position += words;
	if (!right)
		forget_told(ring);
	if (right && ret->kind == AGENT_WATCH_ENTRY)
		note_entry(ring, ret, ring->position);
	return right;
}

bool ring_read_entry(struct ring *ring, uint64_t head,
		     struct agent_watched *ret)
{
	for (;;) {
		const unsigned words = next_length(ring, head);
		bool right;

		if (!words || !is_at_entry(ring))
			return false;
		right = read_watched(ring, words, ret) &&
			ret->kind == AGENT_WATCH_ENTRY;
		if (right)
			return true;
		ring->lost++;
	}
}

/* Kind and pieces, as take_watched() has them. */
#define STUB_KIND(stub) ((stub) >> 16 & 0xffff)

/* Whose it is: those bits of the word. */
#define STUB_WHOSE UINT64_C(0xffffffff000000ff)

/* Of a record that doesn't go on at the ring's beginning; else NULL. */
static const uint64_t *straight_at(const struct ring *ring, uint64_t position,
				   unsigned words)
{
	const uint64_t at = position & (ring->size - 1);

	return at + words <= ring->size ? &ring->words[at] : NULL;
}

static uint64_t read_word(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Most are entries whose walk was told of before, without pieces. These are read here,
 * and all else as ever: false, nothing is read.
 */
static bool read_known(struct ring *ring, uint64_t head,
		       struct agent_watched *ret)
{
	const uint64_t at = ring->position, header = word_at(ring, at);
	const unsigned words = header & 0xffff;
	const uint64_t *record = straight_at(ring, at, words);
	const struct walk_place *place;
	uint64_t stub, name;
	unsigned i;

	if (header != agent_record_header(at, words) ||
	    words < AGENT_WATCH_SHORT ||
	    words > AGENT_WATCH_SHORT + AGENT_ARGUMENTS || words > head - at ||
	    !record)
		return false;
	stub = read_word(&record[AGENT_WATCH_STUB]);
	name = read_word(&record[AGENT_WATCH_NAME]);
	if (STUB_KIND(stub) != AGENT_WATCH_KNOWN)
		return false;
	place = find_walk(ring, name);
	if (!place)
		return false;
	ret->kind = AGENT_WATCH_ENTRY;
	ret->unmarked = ret->complete = ret->tail_call = false;
	ret->known = true;
	ret->inner = stub >> 8 & AGENT_IS_INNER;
	ret->time = read_word(&record[AGENT_WATCH_TIME]);
	ret->stub = stub & 0xff;
	ret->tid = (pid_t)(stub >> 32);
	ret->result = ret->return_address = ret->stored_at = 0;
	ret->choice = AGENT_CHOICE_OPEN;
	ret->rate = 0;
	ret->walk = name;
	ret->slot = ring->entry_slot = place->slot;
	ret->frame_count = 1;
	ret->frames[0] = ring->entry_return_address = place->return_address;
	ret->piece_words = 0;
	ret->has_ended = false;
	ret->argument_count = words - AGENT_WATCH_SHORT;
	ret->float_count = 0;
	for (i = 0; i < ret->argument_count; i++)
		ret->arguments[i] = read_word(&record[AGENT_WATCH_SHORT + i]);
	ring->position = ring->entry_end = at + words;
	return true;
}

/* As take_following(), of the entry that was read right before. */
static void join_return(struct ring *ring, uint64_t head,
			struct agent_watched *ret)
{
	const uint64_t at = ring->position;
	const uint64_t *record = straight_at(ring, at, AGENT_WATCH_SHORT);
	uint64_t stub, time;

	if (head - at < AGENT_WATCH_SHORT || !record ||
	    word_at(ring, at) != agent_record_header(at, AGENT_WATCH_SHORT))
		return;
	stub = read_word(&record[AGENT_WATCH_STUB]);
	time = read_word(&record[AGENT_WATCH_TIME]);
	if (STUB_KIND(stub) != AGENT_WATCH_FOLLOWS || time < ret->time ||
	    (stub & STUB_WHOSE) !=
		    ((uint64_t)(uint32_t)ret->tid << 32 | ret->stub))
		return;
	ret->has_ended = true;
	ret->ended = time;
	ret->result = read_word(&record[AGENT_WATCH_RESULT]);
	ring->position = at + AGENT_WATCH_SHORT;
}

/* It has been written on another processor: to get it takes as long as some calls. */
#define AHEAD 64

static void expect_words(const struct ring *ring)
{
	__builtin_prefetch(
		&ring->words[(ring->position + AHEAD) & (ring->size - 1)]);
}

static bool read_any(struct ring *ring, uint64_t head,
		     struct agent_watched *ret)
{
	for (;;) {
		const unsigned words = next_length(ring, head);

		if (!words)
			return false;
		if (read_watched(ring, words, ret))
			return true;
		ring->lost++;
	}
}

bool ring_read_watched(struct ring *ring, uint64_t head, bool joins,
		       struct agent_watched *ret)
{
	keep_up(ring, head);
	if (ring->position == head || is_withheld(ring))
		return false;
	expect_words(ring);
	if (!read_known(ring, head, ret) && !read_any(ring, head, ret))
		return false;
	if (joins && ret->kind == AGENT_WATCH_ENTRY && ret->frame_count)
		join_return(ring, head, ret);
	return true;
}

/* ---- what isn't whole ---- */

/* How many words one has that was begun, and is no call if it never ends; or 0. */
static unsigned begun_at(const struct ring *ring, uint64_t position,
			 uint64_t head)
{
	const uint64_t header = word_at(ring, position);
	const unsigned words = header & (AGENT_BEGUN - 1);

	if (!(header & AGENT_BEGUN) || words < least_words(ring) ||
	    words > most_words(ring) || words > head - position ||
	    header != agent_record_header(position, words | AGENT_BEGUN))
		return 0;
	return words;
}

/* Where its return address lies; 0: that isn't known. */
static taddr_t slot_at(const struct ring *ring, uint64_t position)
{
	const uint64_t stub = word_at(ring, position + AGENT_WATCH_STUB);
	const struct walk_place *place;

	if ((stub >> 8 & 0xff & ~AGENT_IS_INNER) != AGENT_IS_ENTRY)
		return word_at(ring, position + AGENT_WORD_SLOT);
	if ((stub >> 16 & 0xff) != AGENT_WATCH_KNOWN)
		return word_at(ring, position + AGENT_WATCH_SLOT);
	place = find_walk(ring, word_at(ring, position + AGENT_WATCH_NAME));
	return place ? place->slot : 0;
}

bool ring_is_left(const struct ring *ring, uint64_t head)
{
	const taddr_t slot = word_at(ring, ring->position + 1);
	uint64_t left = head - ring->position;
	unsigned words = begun_at(ring, ring->position, head);

	if (!ring->entries || left > ring->size)
		return false;
	while (words && words < left) {
		left -= words;
		words = length_at(ring, head - left);
		if (words && slot_at(ring, head - left) == slot)
			return true;
		if (!words)
			words = begun_at(ring, head - left, head);
	}
	return false;
}

/* Where what isn't whole ends, as far as that is known. */
static uint64_t end_of_gap(const struct ring *ring, uint64_t position,
			   uint64_t head)
{
	const unsigned words = begun_at(ring, position, head);

	if (words)
		return position + words;
	do
		position++;
	while (position != head && !length_at(ring, position) &&
	       !begun_at(ring, position, head));
	return position;
}

void ring_withhold(struct ring *ring, uint64_t head)
{
	unsigned begun;

	keep_up(ring, head);
	if (ring->position == head)
		return;
	begun = begun_at(ring, ring->position, head);
	if (!begun && length_at(ring, ring->position))
		return; /* by now */
	ring->withheld_begun = begun;
	ring->withheld = (struct agent_gap){
		ring->position,
		begun ? ring->position + begun :
			end_of_gap(ring, ring->position, head),
	};
}

/* Its thread may be about to take the first word away, and to write it anew. */
static bool take_at(const struct ring *ring, uint64_t position)
{
	uint64_t *at = &ring->words[position & (ring->size - 1)];
	uint64_t header = word_at(ring, position);

	return length_at(ring, position) &&
	       __atomic_compare_exchange_n(at, &header, header | AGENT_TAKEN,
					   false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void ring_pass_over(struct ring *ring, uint64_t head)
{
	const struct agent_gap withheld = ring->withheld;

	ring->withheld = (struct agent_gap){ 0, 0 };
	keep_up(ring, head);
	if (ring->position != withheld.from || take_at(ring, ring->position))
		return;
	if (!ring->withheld_begun)
		ring->lost++;
	forget_told(ring);
	do
		ring->position++;
	while (ring->position != withheld.to && !take_at(ring, ring->position));
}

void ring_give_up(struct ring *ring, uint64_t head)
{
	bool lost = false;

	keep_up(ring, head);
	while (ring->position != head) {
		const unsigned words = length_at(ring, ring->position);
		const bool whole = words && words <= head - ring->position;

		lost |= whole ? !was_read(ring, ring->position) :
				!begun_at(ring, ring->position, head);
		ring->position = whole ? ring->position + words :
					 end_of_gap(ring, ring->position, head);
	}
	ring->lost += lost;
	ring->withheld = (struct agent_gap){ 0, 0 };
}
