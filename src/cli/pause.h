/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PAUSE_H
#define CALLTRAP_PAUSE_H

#include "cli/session.h"

/*
 * calltrap is stopped from the terminal (SIGTSTP). Processes that it was
 * attached to must not stand still for that: they are let go of, and attached
 * to again when it is continued.
 */

/* Takes note of what is traced: before it is let go of. */
void pause_begin(struct session *session);

/*
 * Stops calltrap, while no thread traces, until it is continued. Returns
 * whether it is to trace again.
 */
bool pause_wait(struct session *session);

/*
 * Attaches to all that were let go of and are still there, in the thread that
 * traces from now on. -ESRCH when there is none.
 */
int pause_end(struct session *session);

void pause_free(struct pause *pause);

#endif
