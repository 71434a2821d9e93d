/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLAYBACK_H
#define CALLTRAP_PLAYBACK_H

#include "heap/act_observer.h"
#include "recording/cost_note.h"
#include "recording/glossary.h"
#include "recording/source_blocks.h"

/*
 * Plays a recording: what it tells happens again to heaps, and to whoever
 * observes acts, as it did when it was written. A few blocks at a time are in
 * memory.
 */
struct playback;

struct playback_options {
	struct stacks *stacks;
	struct families *families; /* the recording adds its own */
	struct namer *namer;       /* or NULL */
	/* A part of the time, since recording began; until 0: to the end. */
	uint64_t since, until;
	bool timeline; /* as of heap_options, as these are: */
	uint64_t sample, seed;
	unsigned (*component)(void *context, stack_id stack,
			      const char *library);
	struct act_observer *observer; /* or NULL */
	/* All has been read, of one process or several, which will be told of.
	   Or NULL. */
	void (*read)(void *context, bool several);
	/* A process that has come to its end, or was there at the end of the
	   recording or of its part. Told when all has been read. */
	void (*ended)(void *context, const struct watched *process,
		      const struct heap_cost *cost);
	void *context;
};

/* What was played. */
struct playback_counts {
	uint64_t events;
	uint64_t dropped; /* events that the recording hasn't got, as it says */
	uint64_t first_time, last_time;
};

/* How it ended. */
struct playback_end {
	/* 0; -ENODATA: the file ends early; -EBADMSG: it is damaged; or another
	   negative errno of reading it. */
	int error;
	uint64_t offset;     /* where: all before that was played */
	const char *problem; /* what is wrong there, or NULL */
};

struct playback *
playback_new(const struct playback_options *options) MUST_CHECK;
void playback_free(struct playback *playback);

/* Plays all of it; ends every process. fd is closed. */
struct playback_end playback_run(struct playback *playback, int fd);
struct playback_counts playback_counts(const struct playback *playback);

#endif
