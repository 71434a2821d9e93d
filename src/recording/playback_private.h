/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLAYBACK_PRIVATE_H
#define CALLTRAP_PLAYBACK_PRIVATE_H

#include "base/hash.h"
#include "heap/apply.h"
#include "recording/decoder.h"
#include "recording/playback.h"

/* A process of the recording. */
struct played {
	struct watched watched;
	uint32_t number;
	struct heap_cost cost;
	bool over;
	struct played *next; /* that came to its end after this one */
};

/* A call that was entered and has not returned. */
struct begun_key {
	uint64_t process, call;
	const struct family_function *function;
};

struct begun_act {
	struct begun_key key;
	struct applied_act applied;
	UT_hash_handle hh;
};

struct playback {
	struct playback_options options;
	struct source_blocks source;
	struct glossary glossary;
	uint64_t read_ahead; /* dictionaries before that were */
	struct played **all; /* by number, less 1 */
	size_t count, room;
	struct begun_act *begun;
	uint64_t since, until; /* monotonic */
	uint64_t calls;        /* numbers for those that need one */
	struct playback_counts counts;
	struct played *first_over, **end_over;
	bool damaged;
};

static inline bool is_in_part(const struct playback *playback)
{
	return playback->options.since || playback->options.until;
}

/* NULL: there is none, or it is over. */
struct played *played_find(struct playback *playback, uint64_t number);

/* It is told of when all has been read: names come last. */
void played_end(struct playback *playback, struct played *played);
void played_free(struct played *played);

/* Who is still there ends, as what is read does. */
void played_end_all(struct playback *playback, uint64_t now);
void played_tell(const struct playback *playback);

void play_note(struct playback *playback, const struct recorded_event *event);

/* What this process's heap calls it, or 0: nobody has said yet. */
static inline uint32_t known_site(const struct played *played,
				  struct glossary_site *site)
{
	if (site->process != played->number) {
		site->process = played->number;
		site->known = 0;
	}
	return site->known;
}

/* A family that was told of when the heap was there already has no place in it. */
static inline bool knows(const struct played *played,
			 const struct glossary_site *site)
{
	return site->function->family->index <
	       heap_family_count(played->watched.heap);
}

/* An event that is looked at before it is played. */
struct coming {
	const struct recorded_event *event;
	struct glossary_site *site;
	struct played *played; /* NULL: not known by now */
	uint32_t from, to;     /* sites that lose, and get, a block; or 0 */
	pid_t tid;
};

void play_act(struct playback *playback, struct coming *coming);
void play_events(struct playback *playback, const struct decoded *decoded);

#endif
