/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FRONT_H
#define CALLTRAP_FRONT_H

#include <signal.h>
#include <sys/types.h>

/*
 * calltrap is two processes. The front is the one that was started: it passes
 * signals on, and ends with the status of the other. The other does all the
 * work, as only the thread that has attached to a target can let go of it: so
 * it can stay when the front has to end, and is still there, to leave in good
 * order, when the front is killed.
 */

/* The name of the second one: who kills "calltrap" doesn't mean it. */
#define FRONT_WORKER_NAME "ctrap-tracer"

/* Comes when the front has ended, though it wasn't told to. */
#define FRONT_GONE (SIGRTMIN)

/* Returns in the second process, with the number of the first. */
pid_t front_begin(void);

/*
 * The front ends with that status; this process goes on, unseen, with its
 * standard descriptors closed to the world.
 */
void front_release(pid_t front, int status);

#endif
