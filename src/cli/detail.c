/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/detail.h"

#include "base/clock.h"

/* Of less time nothing can be said. */
#define LEAST (NS_PER_SECOND / 100)

/* What a call costs falls to a third at most when something is left out. */
#define SPARE 4

#define PATIENCE_LEAST 16
#define PATIENCE_MOST  1024

static bool too_dear(struct detail *detail)
{
	detail->calm = 0;
	if (detail->level == detail->least)
		return false;
	detail->level++;
	if (detail->patience < PATIENCE_LEAST)
		detail->patience = PATIENCE_LEAST;
	else if (detail->patience < PATIENCE_MOST)
		detail->patience *= 2;
	return true;
}

static bool cheap(struct detail *detail)
{
	if (detail->level == DETAIL_ALL || ++detail->calm < detail->patience)
		return false;
	detail->calm = 0;
	detail->level--;
	return true;
}

bool detail_look(struct detail *detail, uint64_t used_ns, uint64_t spent_ns)
{
	const uint64_t spent = spent_ns - detail->spent_ns;
	uint64_t used = used_ns - detail->used_ns;
	double share;

	/* A process that has ended is in no sum any more. */
	if (used_ns < detail->used_ns || spent_ns < detail->spent_ns) {
		detail->used_ns = used_ns;
		detail->spent_ns = spent_ns;
		return false;
	}
	if (used < LEAST)
		return false;
	detail->used_ns = used_ns;
	detail->spent_ns = spent_ns;
	/* Not all of it is time on a processor. */
	used = used > spent + used / 8 ? used - spent : used / 8;
	detail->own_ns += used;
	detail->cost_ns += spent;
	detail->looks++;
	detail->at[detail->level]++;
	share = (double)spent / (double)used;
	if (share > detail->most)
		return too_dear(detail);
	if (share * SPARE < detail->most)
		return cheap(detail);
	detail->calm = 0;
	return false;
}
