/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPEN_BELOW_H
#define CALLTRAP_OPEN_BELOW_H

/*
 * Finds what a path leads to in the tree below a directory, as if that were the
 * root: no "..", no link leads out of it, not even those of /proc.
 * flags: O_NOFOLLOW, O_DIRECTORY or 0. An O_PATH descriptor, or a negative errno.
 */
int open_below(int root, const char *path, int flags);

/* The same without openat2(), which came with Linux 5.6. */
int open_below_by_steps(int root, const char *path, int flags);

#endif
