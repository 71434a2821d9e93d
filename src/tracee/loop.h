/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOOP_H
#define CALLTRAP_LOOP_H

#include <signal.h>
#include <stdbool.h>

#include "tracee/tracer.h"

/*
 * Waits for stops, has each handled, and resumes what stopped: the only place
 * that resumes a task. Returns 0 when no tracee is left, -EINTR when *wake
 * was set by a signal handler (which must see to it that signals go on
 * coming until it is cleared: one may arrive just before the wait).
 */
int loop_run(struct tracer *tracer, const volatile sig_atomic_t *wake);

/*
 * Waits for one status, and handles it and what came with it; or for a signal.
 * False when there is nothing to wait for.
 */
bool loop_once(struct tracer *tracer);

/* Keeps every status that is there for loop_handle_queued(); returns how many. */
size_t loop_fetch_all(struct tracer *tracer);

/*
 * Has the stops handled that there are, and returns; for who has other things
 * to do meanwhile. Ends are left for loop_run(): nobody waits for their sake.
 */
void loop_serve(struct tracer *tracer);

/* The same, but for the tasks of that space, which nothing is done to. */
void loop_serve_others(struct tracer *tracer, const struct space *space);

/* Lets go of children that are held and whose parents are gone. */
void loop_settle_orphans(struct tracer *tracer);

/* Handles what tracer_queue_stop() has kept. */
void loop_handle_queued(struct tracer *tracer);

#endif
