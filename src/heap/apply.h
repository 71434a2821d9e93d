/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_APPLY_H
#define CALLTRAP_APPLY_H

#include <stdbool.h>

#include "heap/act_observer.h"

/*
 * From the numbers of acts to heaps, and to who observes them. Where the
 * numbers come from is nobody's business here: of a call that was seen at its
 * stops, or of a record of one that is over.
 */

/* An act of a call that runs; in the beginning all but .act is 0. */
struct applied_act {
	struct heap_act act;
	struct heap_outcome outcome;
	uint64_t token; /* the observer's */
};

struct act_target {
	struct watched *process;
	struct act_observer *observer; /* or NULL */
};

/* The call has begun; .act is what is known of it by now. */
void apply_begin(const struct act_target *target, struct applied_act *applied);

/*
 * The call has returned: .act of what was begun, with all that the return has
 * told; once for each handle. entered: as of struct observed_act. Returns
 * whether that is now one of the blocks that are sampled.
 */
bool apply_end(const struct act_target *target,
	       const struct applied_act *applied, uint64_t entered);

/*
 * Nobody waits for its return: what it does is done. Returns whether what it
 * gives back was held.
 */
bool apply_at_once(const struct act_target *target, const struct heap_act *act);

/*
 * It won't return; time: when that was seen. thrown: an exception says that it
 * has failed. Returns whether what it was about to give back is held again.
 */
bool apply_abandon(const struct act_target *target,
		   const struct applied_act *applied, uint64_t time,
		   bool thrown);

#endif
