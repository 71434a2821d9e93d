/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WORKER_H
#define CALLTRAP_WORKER_H

#include "base/types.h"

/*
 * The process in which a plan is carried out: calltrap's program once more,
 * with this as its first argument, and another allocator perhaps. Then come the
 * descriptors of plan and result, WORKER_CHECK or WORKER_RUN, and the file that
 * malloc() must be from, "" for the C library's.
 */
#define WORKER_ARGUMENT "--calltrap-replays-a-plan"
#define WORKER_CHECK    "check"
#define WORKER_RUN      "run"

/* Ends the process. */
void worker_main(int argc, char **argv) NO_RETURN;

#endif
