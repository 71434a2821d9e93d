/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OWN_DESCRIPTOR_H
#define CALLTRAP_OWN_DESCRIPTOR_H

#include <stdbool.h>

/*
 * Names of calltrap's own standard output and error. Others may have written
 * to such a file, and go on behind us: opened by its name it would be emptied,
 * or replaced.
 */
bool own_descriptor_is(const char *path);

/*
 * A copy of the descriptor, for the caller to close; -ENOENT: the path is no
 * such name; or another negative errno.
 */
int own_descriptor(const char *path);

#endif
