/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RIGHTS_H
#define CALLTRAP_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/types.h"

/*
 * What a process may open. It names files (sources and debug files in its debug
 * information, libraries in its memory), and may be anybody's: calltrap, run
 * by root, must not read for it what it couldn't read itself, nor outside of
 * its root.
 */
struct rights;

/* NULL when the process has gone. */
struct rights *rights_of(pid_t pid);
struct rights *rights_get(struct rights *rights); /* one more owner */
void rights_put(struct rights *rights);           /* one less; NULL is fine */

/*
 * What one of them finds out about file systems that don't answer, the other
 * knows: these are waited for only now and then.
 */
void rights_share_silence(struct rights *rights, const struct rights *with);

/*
 * Opens a regular file for reading, with these rights, below the process's
 * root; when the process has gone, below ours if it had the same. NULL: with
 * our own rights. Nothing else than a regular file is ever opened, so nobody
 * waits for a FIFO, and no device notices. Returns the descriptor, -EINVAL for
 * what is no regular file, -ETIMEDOUT for one on a file system that doesn't
 * answer within a second, or another negative errno. Only the calling thread's
 * rights change meanwhile. flags: O_NOFOLLOW or 0.
 */
int rights_open(const struct rights *rights, const char *path,
		int flags) MUST_CHECK;

/*
 * Opens the program that the process runs, as procfs_open_exe() does, unless
 * its file system doesn't answer: -ETIMEDOUT. path is what it is called.
 */
int rights_open_exe(struct rights *rights, const char *path) MUST_CHECK;

#endif
