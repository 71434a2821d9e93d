/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRIPT_H
#define CALLTRAP_SCRIPT_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/types.h"

/*
 * How a prototype file says to find out which file and line of a program an
 * interpreter is at, from what is in the interpreter's memory: the script
 * items of one file. The memory is hostile: asking takes a bounded number of
 * steps, and whatever isn't there is an error.
 */
struct script;

/* A variable of the interpreter's that the script wants to know of. */
struct script_object {
	const char *name;
	bool per_thread; /* each thread has its own */
};

/* They are good as long as the script is. */
const struct script_object *script_objects(const struct script *script,
					   size_t *count_ret);

/* What is known of the thread that is asked about. */
struct script_thread {
	const struct script_thread_ops *ops;
	struct memory *memory;
};

struct script_thread_ops {
	/* Where the index-th object is, for this thread; or an error. */
	int (*object)(struct script_thread *thread, size_t index, taddr_t *ret);

	/* What tells the thread from others: the thread pointer. */
	int (*pointer)(struct script_thread *thread, taddr_t *ret);
};

struct script_frame {
	const char *file;
	const char *function; /* NULL: not known, or in none */
	unsigned line;        /* 0: not known */
};

/* From the innermost one outwards; there is at least one. */
struct script_frames {
	size_t count; /* of those that were asked for */
	size_t known; /* of all in the list */
	struct script_frame *list;
	/* Of the list: the first that is in no library, or else the first. */
	const struct script_frame *own;
};

/*
 * Where in its program the interpreter is, at most depth (1 or more) frames
 * outwards.
 * -ENOENT when it isn't in any (or not the one that the script is about),
 * -EFAULT, -ELOOP, -EINVAL or what thread's functions return when it can't be
 * said. The frames are the caller's to free.
 */
int script_ask(const struct script *script, struct script_thread *thread,
	       size_t depth, struct script_frames **ret) MUST_CHECK;
void script_frames_free(struct script_frames *frames);

/*
 * Whether a file belongs to a library in the script's language, or is none
 * (library.c).
 */
bool script_is_library(const char *file);

#endif
