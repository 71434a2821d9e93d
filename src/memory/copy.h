/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_COPY_H
#define CALLTRAP_MEMORY_COPY_H

#include "memory/freeze.h"
#include "memory/mappings.h"

/*
 * A child of a process, made in its name, that shares its memory until one of
 * them writes, and never runs: so the process goes on at once, and its memory as
 * it was is read at leisure.
 *
 * A process of ours that stands apart makes it, holds it, and ends it: if
 * calltrap were killed in the middle, the process would go on in the midst of a
 * call that isn't its own, and so would the child.
 */
struct copy {
	pid_t pid;           /* of the copy */
	pid_t own_pid;       /* as the process knows it */
	taddr_t instruction; /* where the process makes system calls */
	pid_t helper;        /* 0: it takes too long, and is left alone */
	int from, to;        /* pipes from it and to it */
};

/*
 * Before the process is frozen: whether it can and may be copied. NULL if so,
 * else why not, in words; a constant.
 */
const char *copy_refuse(pid_t pid, const struct mappings *mappings,
			struct copy *ret);

/*
 * Freezes the process, makes a copy, and lets it go on. ret: its tasks as they
 * stood then; pause_ret: for how long they did, in nanoseconds. A negative errno
 * when there is no copy, and all is as before.
 */
int copy_begin(struct copy *copy, pid_t pid, struct freeze *ret,
	       uint64_t *pause_ret) MUST_CHECK;

/*
 * Ends it, and has the process reap it, which is frozen once more for that.
 * Returns for how long, in nanoseconds. false in reaped_ret: what is left of
 * it stays a zombie until the process ends.
 */
uint64_t copy_end(struct copy *copy, bool *reaped_ret);

#endif
