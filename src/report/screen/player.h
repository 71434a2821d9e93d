/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLAYER_H
#define CALLTRAP_PLAYER_H

#include <sys/types.h>

#include "report/screen/live.h"

/* What the process of the screen does. */
struct player_options {
	struct live_shared *shared;
	int messages;  /* lines to be shown and printed */
	pid_t tracer;  /* our parent; it has died when that is another one */
	unsigned rows; /* as of screen_options */
	uint64_t every;
};

/* Returns when there is nothing more to be shown, with the terminal as it was. */
void player_run(const struct player_options *options);

#endif
