/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NEWER_CALLS_H
#define CALLTRAP_NEWER_CALLS_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * System calls that came after Linux 4.18. Where the kernel hasn't one it says
 * ENOSYS; a container's filter that was written before it says EPERM as often.
 */

/* Whether this is how a call failed that isn't there, or may not be made. */
bool call_is_missing(int error);

/*
 * Lets the C library have threads where a filter says EPERM to clone3(): it
 * takes clone() instead only if that says ENOSYS. This holds for the caller and
 * all that it starts. Without effect where it isn't needed, or can't be done.
 */
void threads_allow(void);

/* As statx(), or what older calls tell: that may ask the file system. */
int statx_anyhow(int folder, const char *path, int flags, unsigned mask,
		 struct statx *ret);

#endif
