/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SINK_FILE_H
#define CALLTRAP_SINK_FILE_H

#include <signal.h>

#include "recording/block.h"

/*
 * The file that a recording goes to. A thread of its own compresses blocks and
 * writes them: whoever hands them over doesn't wait for a disk, as long as few
 * are under way.
 */
struct sink_file;

/* A block that is to be written. Its text becomes the file's. */
struct sink_block {
	struct block_head head; /* kind, count, times */
	struct strbuf text;
};

/*
 * Opens path, emptied, with a head. predictable: others can know the name
 * beforehand (see report/file/exposed.h).
 */
struct sink_file_policy {
	/* Events for which there is no room are dropped; else whoever has them
	   waits, */
	bool drops;
	/* … until this is set (by a signal handler): a disk that takes nothing
	   for two seconds then keeps nobody any longer. NULL: for ever. */
	const volatile sig_atomic_t *hurry;
	/* Bytes, not compressed, that may wait; 0: many. */
	size_t room;
};

int sink_file_open(const char *path, bool predictable,
		   const struct sink_file_policy *policy,
		   const struct recording_head *head,
		   struct sink_file **ret) MUST_CHECK;

/* False: the block was dropped. Dictionaries are not. */
bool sink_file_add(struct sink_file *file, struct sink_block *block);

/* Nothing is dropped from now on. */
void sink_file_wait(struct sink_file *file);

/* Why it can't be written any more: a negative errno; 0: it can. */
int sink_file_error(struct sink_file *file);

struct sink_file_counts {
	uint64_t bytes;
	uint64_t events;    /* that are in the file … */
	uint64_t dropped;   /* … and that aren't: no room, */
	uint64_t unwritten; /* … or no disk */
	uint64_t waited_ns; /* how long there was no room for a block */
};

/*
 * Waits until everything is written, ends the file with its index, and frees
 * it. A negative errno when that failed: what is in the file stays readable.
 * -ETIMEDOUT: nothing was taken any more, and the thread still tries.
 */
int sink_file_close(struct sink_file *file, struct sink_file_counts *ret);

#endif
