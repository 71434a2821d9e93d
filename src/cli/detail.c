/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/detail.h"

#include "base/clock.h"

/*
 * Of less time, or of fewer calls unless they are few in much time, nothing can
 * be said: one that found its memory elsewhere may have taken a hundred times as
 * long as others.
 */
#define LEAST          (NS_PER_SECOND / 100)
#define LEAST_MEASURED 32

/* What a call costs falls to a third at most when something is left out. */
#define SPARE 4

#define PATIENCE_LEAST 16
#define PATIENCE_MOST  1024

static bool too_dear(struct detail *detail)
{
	detail->calm = 0;
	if (detail->level == detail->least)
		return false;
	if (!detail->patience)
		detail->patience = PATIENCE_LEAST;
	else if (detail->came_back && detail->patience < PATIENCE_MOST)
		detail->patience *= 2;
	detail->came_back = false;
	detail->level++;
	if (detail->level > detail->deepest)
		detail->deepest = detail->level;
	return true;
}

static bool cheap(struct detail *detail)
{
	detail->calm++;
	if (detail->level == DETAIL_ALL) {
		if (detail->calm > PATIENCE_MOST)
			detail->patience = PATIENCE_LEAST;
		return false;
	}
	if (detail->calm < detail->patience)
		return false;
	detail->calm = 0;
	detail->came_back = true;
	detail->level--;
	return true;
}

static bool is_enough(uint64_t used, uint64_t measured)
{
	return used >= NS_PER_SECOND ||
	       (used >= LEAST && measured >= LEAST_MEASURED);
}

bool detail_look(struct detail *detail, const struct detail_sums *now)
{
	const struct detail_sums then = detail->then;
	const uint64_t spent = now->spent_ns - then.spent_ns;
	uint64_t used = now->used_ns - then.used_ns;
	double share;

	/* A process that has ended may be in no sum any more. */
	if (now->used_ns < then.used_ns || now->spent_ns < then.spent_ns) {
		detail->then = *now;
		return false;
	}
	if (!is_enough(used, now->measured - then.measured))
		return false;
	detail->then = *now;
	/* Not all of it is time on a processor. */
	used = used > spent + used / 8 ? used - spent : used / 8;
	detail->own_ns += used;
	detail->cost_ns += spent;
	detail->at_ns[detail->level] += used;
	share = (double)spent / (double)used;
	if (share > detail->most)
		return too_dear(detail);
	if (share * SPARE < detail->most)
		return cheap(detail);
	detail->calm = 0;
	return false;
}
