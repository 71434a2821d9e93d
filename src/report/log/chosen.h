/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CHOSEN_H
#define CALLTRAP_CHOSEN_H

#include "filter/predicate.h"
#include "probe/event.h"
#include "prototype/prototype.h"

/*
 * Passes on to other sinks only those calls that a predicate holds of, and
 * whatever is no call. A call of which that is known at its end only is passed
 * on then, begin and end in a row; what its arguments point to was read when it
 * began.
 *
 * sinks: the first of a list, which is this one's from now on. The predicate is
 * the caller's. limits: how much of each argument they will show.
 */
struct sink *chosen_new(struct sink *sinks, struct predicate *predicate,
			const struct print_limits *limits) MUST_CHECK;

#endif
