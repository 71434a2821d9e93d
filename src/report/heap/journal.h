/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_JOURNAL_H
#define CALLTRAP_HEAP_JOURNAL_H

#include "probe/event.h"
#include "report/heap/calls.h"

/* Each call of an allocator, in files: --calls and --footprint. */
struct heap_journal;

struct heap_journal_options {
	struct heap_calls_options calls; /* .path NULL: not wanted */
	const char *footprint;           /* path, or NULL */
	struct act_observer *next;       /* is told of each act, too; or NULL */
	/* A file can't be written (any more). Told once of each. */
	void (*told)(void *context, const char *path, int err);
	void *context;
};

/* A negative errno when a file can't be written; told has been called. */
int heap_journal_new(const struct heap_journal_options *options,
		     struct heap_journal **ret) MUST_CHECK;

/* For watch_options. */
struct act_observer *heap_journal_observer(struct heap_journal *journal);

/* Writes what was kept back while there is nothing else to do. Its freeing
   frees the journal. */
struct sink *heap_journal_sink(struct heap_journal *journal);

/* A process has come to its end, or is let go of. */
void heap_journal_close(struct heap_journal *journal, pid_t pid);

#endif
