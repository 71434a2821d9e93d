/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RECORDER_H
#define CALLTRAP_RECORDER_H

#include "heap/act_observer.h"
#include "naming/namer.h"
#include "recording/cost_note.h"
#include "recording/sink_file.h"

/* Writes recordings: of all processes into one file, or one each. */
struct recorder;

struct recorder_options {
	const char *path; /* "%p" becomes the process id: a file each */
	const struct stacks *stacks;
	const struct families *families;
	struct namer *namer; /* for the names of frames, at the end */
	/* What the clock is ahead of the times of acts, for the whole file; 0: what
	   it is when the file is begun. */
	uint64_t wall_offset;
	struct sink_file_policy policy;
	/* A file is finished, or can't be written any more (err < 0). */
	void (*told)(void *context, const char *path,
		     const struct sink_file_counts *counts, int err);
	void *context;
};

/* A negative errno when the file can't be made. */
int recorder_new(const struct recorder_options *options,
		 struct recorder **ret) MUST_CHECK;

/* Is told of each act. */
struct act_observer *recorder_observer(struct recorder *recorder);

/* Belongs on the session's list, which frees it. Its flush ends the session
   when nothing can be written any more, if that was asked for. */
struct sink *recorder_sink(struct recorder *recorder);

/* A process has come to its end. */
void recorder_ended(struct recorder *recorder, const struct watched *process,
		    const struct heap_cost *cost);

/* Everything is over: files that are open are finished. */
void recorder_finish(struct recorder *recorder);

#endif
