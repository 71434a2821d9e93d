/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ANSWERS_H
#define CALLTRAP_ANSWERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/*
 * Files that another machine or a process has to bring may never come (NFS,
 * FUSE), and who waits for them can't be called back. So a child tries first.
 */

/* Kept for as long as calls of answers_try() are to know of each other. */
struct silence {
	uint64_t until; /* nothing is tried before (monotonic); at first 0 */
};

/*
 * Whether a process's path, which begins at root, lies on the file system of
 * root, and that is of no such kind, or no mount of the process is: nothing has
 * to be tried. May be false in doubt.
 */
bool answers_surely(pid_t pid, int root, const char *path);

/* The same of the program that a process runs. */
bool answers_surely_exe(pid_t pid);

/*
 * Calls try in a child, which has no descriptors but root, as number 3, and
 * waits for it to return, for a second at most. Then the child is left to
 * itself, the user is told, and nothing is tried for ten seconds. Returns 0 or
 * -ETIMEDOUT.
 */
int answers_try(struct silence *silence, int root, const char *path,
		void (*try)(void *context, int root), void *context) MUST_CHECK;

#endif
