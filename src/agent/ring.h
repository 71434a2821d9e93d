/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RING_H
#define CALLTRAP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/types.h"
#include "sysdeps/x86_64/agent/layout.h"

/*
 * Reads what the agent has written of one thread's calls. The memory is the
 * traced program's, which may scribble over it at any time, so each word is
 * read once and then checked; the position is ours.
 */
struct ring {
	uint64_t *words;
	uint64_t size;     /* of it, a power of two */
	uint64_t position; /* of the next record */
	uint64_t lost;     /* times that something was passed over */
	bool watches;      /* what it holds are watched calls */
	bool entries;      /* … are records, and before some their entry */
	struct ring_walk *walks; /* AGENT_KEPT_WALKS, or NULL */
	struct ring_told *told;  /* or NULL */
	bool misses_walks; /* that it knows may have been among what it lost */
	/* Given up, or about to be: nothing there is read meanwhile. None: 0 words. */
	struct agent_gap withheld;
	bool withheld_begun; /* no call is lost with it */
	/* Of the last entry: what follows there may be told without these. */
	uint64_t entry_end;
	taddr_t entry_slot, entry_return_address;
};

/* What it has learned of the records is forgotten. */
void ring_fini(struct ring *ring);

/* One call, from its begin to its return. Times in ticks. */
struct agent_record {
	uint64_t began, ended;
	taddr_t return_address;
	taddr_t slot; /* where that lay on the stack */
	uint64_t result;
	uint64_t arguments[AGENT_ARGUMENTS];
	unsigned argument_count;
	uint64_t floats[AGENT_FLOATS]; /* arguments, in their registers */
	unsigned float_count;
	bool is_float;        /* so is the result */
	unsigned piece_words; /* of memory, see agent_record_piece() … */
	uint64_t *pieces;     /* … or NULL */
	unsigned stub;
	pid_t tid;      /* 0: not known */
	int error;      /* errno, when the call has failed; 0: not known */
	bool inner;     /* it is within a call that wasn't recorded by then */
	unsigned block; /* of the ring: not the ring's to know */
};

/* The entry or the return of a watched call. */
struct agent_watched {
	enum agent_watch_kind kind;
	bool unmarked; /* of a return: instead of another kind */
	uint64_t time; /* ticks */
	taddr_t slot;
	unsigned stub;
	pid_t tid;
	uint64_t result; /* of a return, which was to … */
	taddr_t return_address;
	taddr_t stored_at; /* AGENT_STORES: what lay there then; or 0 */
	uint64_t stored;
	/* Of an entry: */
	uint64_t arguments[AGENT_ARGUMENTS];
	unsigned argument_count;
	uint64_t floats[AGENT_FLOATS];
	unsigned float_count;
	unsigned frame_count;
	bool complete;  /* there are no further frames */
	bool tail_call; /* its caller will return with it */
	bool inner;     /* among records: as a record's */
	enum agent_choice choice;
	unsigned rate;  /* … made at this one */
	uint64_t walk;  /* agent_walk_name() of these frames, or 0 */
	bool known;     /* … which was told before: here is only the first */
	bool has_ended; /* … with this result, and nothing came in between */
	uint64_t ended; /* ticks */
	unsigned block; /* of the ring: not the ring's to know */
	taddr_t frames[AGENT_DEPTH_MAX]; /* from the caller on */
	unsigned piece_words;            /* of memory, as a record's */
	uint64_t pieces[AGENT_PIECE_WORDS];
};

/*
 * The next record, of those before head (the writer's word for how much it has
 * reserved). False when there is none yet. Its memory is put into pieces, where
 * it stays until the next one comes.
 */
bool ring_read(struct ring *ring, uint64_t head, struct agent_record *ret,
	       uint64_t pieces[AGENT_PIECE_WORDS]);

/* The entry of a call whose record follows: where ring_read() found none. */
bool ring_read_entry(struct ring *ring, uint64_t head,
		     struct agent_watched *ret);

/*
 * A record that isn't finished has others behind it when a handler of signals has
 * interrupted its writer: these can be read before it. The next one that is whole, and
 * hasn't been read so, is the ring's next from then on; false when there is none. Once
 * it was marked it isn't read a second time.
 */
bool ring_find(struct ring *ring, uint64_t head);
void ring_mark(const struct ring *ring, uint64_t position);

/*
 * What a record has of the memory at an address: up to size bytes. Returns how
 * many there are.
 */
size_t record_memory(const struct agent_record *record, uint64_t address,
		     void *ret, size_t size);

/* joins: an entry has its return in it, where that comes right behind it. */
bool ring_read_watched(struct ring *ring, uint64_t head, bool joins,
		       struct agent_watched *ret);

/*
 * Whether who was writing at the position has been jumped out of, by a handler of
 * signals: where its return address lay is another call's place by now.
 */
bool ring_is_left(const struct ring *ring, uint64_t head);

/*
 * The record at the position isn't finished for so long that others aren't to wait for it:
 * its thread stands, runs a handler of signals, or has jumped out of one. What isn't whole
 * from there on is withheld, and the thread is to be told that.
 */
void ring_withhold(struct ring *ring, uint64_t head);

/*
 * Later, when all know of it: goes on at the first that has become whole and isn't written
 * once more, or behind all of it. What that may have told of a walk isn't known. A call was lost, but
 * for one that has BEGUN.
 */
void ring_pass_over(struct ring *ring, uint64_t head);

/* Nobody writes any more: what hasn't been read is passed over, and counted as one. */
void ring_give_up(struct ring *ring, uint64_t head);

#endif
