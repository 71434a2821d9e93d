/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_CHILD_H
#define CALLTRAP_DEBUGINFO_CHILD_H

#include <sys/types.h>

#include "base/types.h"

/* A process of calltrap's own that is spoken to over a socket. */
struct child {
	int socket;
	int pidfd; /* the run loop may reap it: its pid says nothing; -1
		      before Linux 5.3 */
	pid_t pid;
};

/* It does what live() does with the other end of a socket of that type. */
int child_start(struct child *child, int type,
		void (*live)(int socket)) MUST_CHECK;

/* Kills and reaps it. */
void child_end(struct child *child);

/* Closes the socket: it will end by itself. */
void child_leave(struct child *child);

#endif
