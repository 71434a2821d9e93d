/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMING_TAIL_PATH_H
#define CALLTRAP_NAMING_TAIL_PATH_H

#include <stddef.h>

#include "debuginfo/debuginfo.h"

/*
 * The way from a function that was called to the one that runs in its place:
 * through functions that have left by a tail call.
 */

/* Longer ways are not looked for. */
#define TAIL_PATH_MAX 32

enum tail_step {
	TAIL_UNKNOWN,  /* nobody knows where that leads */
	TAIL_FUNCTION, /* to a function of the image */
	TAIL_ARRIVED,  /* to the one that runs */
};

struct tail_map {
	/* -EAGAIN: not known yet. Other errors: never. */
	int (*tails)(void *context, uint64_t entry,
		     const struct debug_tails **ret);
	/* entry_ret: where the FUNCTION begins. */
	enum tail_step (*step)(void *context, const struct debug_target *target,
			       uint64_t *entry_ret);
	void *context;
};

/*
 * Writes the addresses of those tail calls that each way must take which leads
 * from the function that begins at an address to the one that runs, in their
 * order; of several ways, what they have in common at both ends. Returns how
 * many; 0 when there is no way, or nothing is certain; -EAGAIN.
 */
int tail_path_find(const struct tail_map *map, uint64_t from,
		   uint64_t ret[TAIL_PATH_MAX]);

#endif
