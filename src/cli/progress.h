/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROGRESS_H
#define CALLTRAP_PROGRESS_H

#include "heap/watch.h"
#include "naming/namer.h"

/*
 * One line on standard error that tells, once a second, how far the watching of
 * heaps has come. None when that is no terminal.
 */
struct progress;

struct progress_options {
	const struct stacks *stacks;
	struct namer *namer;
	bool blocks, growth; /* which of them are watched */
	uint64_t duration;   /* of the whole watch; 0: no end is known */
	bool interruptible;  /* Ctrl-C ends it */
};

struct progress *
progress_new(const struct progress_options *options) MUST_CHECK;
void progress_free(struct progress *progress);

/* Monotonic time. */
void progress_show(struct progress *progress, const struct watch *watch,
		   uint64_t now);

/* Takes the line away: something else will be printed. */
void progress_clear(struct progress *progress);

#endif
