/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_CONFINE_H
#define CALLTRAP_DEBUGINFO_CONFINE_H

#include <stdbool.h>

#include "base/types.h"

/* Where the child's socket is from then on. */
#define CONFINED_SOCKET 3

/*
 * In a child that was just forked, with one thread: gives up what it has
 * inherited. Of descriptors only the socket remains; signals do what they do
 * by default, and it has a session and a name of its own. False when that
 * can't be had: it must go.
 */
bool confine_leave(int socket, const char *name);

/*
 * The same, and it gives up everything that it could do harm with: memory and
 * time are limited, and of system calls there remain those that reading takes.
 */
bool confine(int socket);

/* Raises the limit of memory by the sizes of files that are to be mapped. */
void confine_allow(const int *fds, size_t count);

#endif
