/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILY_PICK_H
#define CALLTRAP_FAMILY_PICK_H

#include <stdbool.h>

#include "growth/calls.h"
#include "heap/families.h"
#include "probe/prober.h"

/*
 * Which functions have to be probed, and how: those of all families, wherever
 * they are defined, and a few that stand around them. A probed function's
 * subject is its struct family_function, or NULL. growth: also those that make
 * a process grow, whoever calls them.
 */
struct family_pick;

/*
 * timed: no release is told by its entry alone. in_order: nothing is told of
 * before what happened earlier. waits: also those of the C library that wait for
 * somebody (connect, read, write, select, …).
 */
struct family_pick *family_pick_new(const struct families *families, bool timed,
				    bool in_order, bool waits,
				    enum growth_by growth) MUST_CHECK;
void family_pick_free(struct family_pick *pick);

const struct prober_pick *family_pick_ops(const struct family_pick *pick);

/* By family->index: whether something that acquires could not be trapped. Lives
   as long as the pick. */
const bool *family_pick_missing(const struct family_pick *pick);

/* Whether any function of any family was found in any process. */
bool family_pick_has_found(const struct family_pick *pick);

#endif
