/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EXPOSED_H
#define CALLTRAP_EXPOSED_H

#include <stdbool.h>

/*
 * Files whose names others can foresee (by the number of a process), in a
 * directory that anybody may write to: somebody may have been there first, with
 * a link to what we may write and he may not, or with a FIFO.
 */
bool exposed_is(const char *path);

/*
 * Opens one for writing: a new file, or one of our own that has no other name;
 * emptied, or to add to. Returns the descriptor, -EEXIST when something else is
 * there, or another negative errno.
 */
int exposed_open(const char *path, bool add);

#endif
