/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SESSION_H
#define CALLTRAP_SESSION_H

#include "cli/options.h"

/* Exit statuses of calltrap itself; see calltrap(1). */
enum {
	EXIT_NOTHING_TRACED = 1,
	EXIT_WRONG_USAGE = 2,
};

/* Does what the command line says; returns the exit status. */
int session_run(const struct options *options);

#endif
