/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCREEN_H
#define CALLTRAP_SCREEN_H

#include "report/screen/live.h"

/*
 * The process that shows the pictures, and reads keys. Whoever traces goes on
 * when it waits for its terminal (Ctrl-S, a slow line), or has died.
 */
struct screen;

struct screen_options {
	unsigned rows;  /* without a terminal; 0: all */
	uint64_t every; /* … a text so often, in nanoseconds */
	enum live_by by;
	enum live_order order;
};

/*
 * Begins it. From here on what is written to standard error is shown on the
 * screen, and once more when that is over. A negative errno.
 */
int screen_new(const struct screen_options *options,
	       struct screen **ret) MUST_CHECK;

struct live_shared *screen_shared(const struct screen *screen);

/* Whether it has ended, by q or by itself. */
bool screen_has_ended(const struct screen *screen);

/* There is nothing more to be shown: waits until the terminal is as it was.
   Standard error is the former one again. */
void screen_free(struct screen *screen);

/* The same for who is about to die: allocates nothing, waits not for long, and
   frees nothing. */
void screen_abandon(struct screen *screen);

#endif
