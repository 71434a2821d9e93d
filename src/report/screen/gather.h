/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCREEN_GATHER_H
#define CALLTRAP_SCREEN_GATHER_H

#include "heap/watch.h"
#include "naming/namer.h"
#include "report/screen/live.h"
#include "tracee/cost.h"

/*
 * Makes pictures of what is watched. While one is made, tasks wait at their
 * traps: so it never waits itself, and looks at all live blocks only as often
 * as a small share of the time allows.
 */
struct gather;

struct gather_options {
	const struct watch *watch;
	const struct stacks *stacks;
	struct namer *namer;
};

struct gather *gather_new(const struct gather_options *options) MUST_CHECK;
void gather_free(struct gather *gather);

/* What the next picture is to show. */
struct gather_request {
	enum live_by by;
	enum live_order order;
	uint64_t open; /* key of a row; 0: none */
};

/* Changes count from now on, whatever rows stand for. */
void gather_mark(struct gather *gather, uint64_t now);

/* now is monotonic; cost: of all that is traced. */
void gather_make(struct gather *gather, const struct gather_request *request,
		 const struct cost *cost, uint64_t now,
		 struct live_picture *ret);

/* Some rows of the last picture have no names yet, but soon. */
bool gather_lacks_names(const struct gather *gather);

/* When making the next one costs little enough. */
uint64_t gather_next(const struct gather *gather);

#endif
