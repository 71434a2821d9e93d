/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/overhead.h"

#include <math.h>

#include "base/clock.h"

/* Of less time nothing can be said. */
#define LEAST (NS_PER_SECOND / 100)

/* So many doublings at once: what was dear may have been so but once. */
#define RISE_MOST 3
#define FALL_MOST 2

/* What falls below that by less stays as it is, so as not to go to and fro. */
#define SPARE 4

#define FIRST (512u << 10)

unsigned overhead_first_rate(uint64_t sample)
{
	unsigned rate = 0;

	for (; sample < FIRST; sample *= 2)
		rate++;
	return rate;
}

static unsigned rarer(const struct overhead *overhead, double share)
{
	const unsigned left = overhead->rates - 1 - overhead->rate;
	const unsigned most = left < RISE_MOST ? left : RISE_MOST;
	const double steps = ceil(log2(share / overhead->most));

	return overhead->rate + (steps < most ? (unsigned)steps : most);
}

static unsigned more_often(const struct overhead *overhead, double share)
{
	const unsigned steps = share * SPARE * 2 < overhead->most ? FALL_MOST :
								    1;

	return overhead->rate > steps ? overhead->rate - steps : 0;
}

/* Those that are held stay whatever the rate is: only more are a reason. */
static bool fills(struct overhead *overhead, size_t held)
{
	const size_t least = overhead->held_at ?
				     overhead->held_at + overhead->room / 16 :
				     overhead->room / 2;

	if (held < overhead->room / 4)
		overhead->held_at = 0;
	if (held <= least)
		return false;
	overhead->held_at = held;
	return true;
}

static unsigned rate_for(struct overhead *overhead, double share, size_t held)
{
	const bool is_last = overhead->rate + 1 == overhead->rates;

	if (share > overhead->most)
		return rarer(overhead, share);
	if (fills(overhead, held))
		return overhead->rate + !is_last;
	if (share * SPARE < overhead->most && held < overhead->room / 4)
		return more_often(overhead, share);
	return overhead->rate;
}

bool overhead_look(struct overhead *overhead, const struct overhead_sums *now)
{
	const struct overhead_sums then = overhead->then;
	uint64_t used = now->used_ns - then.used_ns;
	const uint64_t cost = now->cost_ns - then.cost_ns;
	unsigned rate;

	/* One that has ended is in no sum any more. */
	if (now->used_ns < then.used_ns || now->cost_ns < then.cost_ns) {
		overhead->then = *now;
		return false;
	}
	if (used + cost < LEAST)
		return false;
	/* Not all of the cost is time on a processor. */
	used = used > cost + used / 8 ? used - cost : used / 8 + 1;
	overhead->then = *now;
	overhead->own_ns += used;
	overhead->cost_ns += cost;
	rate = rate_for(overhead, (double)cost / (double)used, now->held);
	if (rate == overhead->rate)
		return false;
	overhead->rate = rate;
	return true;
}
