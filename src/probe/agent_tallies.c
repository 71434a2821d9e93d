/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "probe/agent_private.h"

/*
 * In a table, calls whose end the agent can't see, as they may throw, or as where they
 * return to must stay as it is: they are counted when they begin, and the function is
 * jumped to. Some are left to the trap, at random, which tells of them as of any: these
 * stand for all. How many that are is decided here: few enough to cost next to nothing,
 * also where a function that was seldom called is so a million times a second from one
 * moment to the next.
 */

/* Of all time: so much goes to calls that are told of, of all functions and threads. */
#define SHARE 50

/* One has a stop at its begin, one at its end, and the next call that returns there
   another one, for nothing. What they cost depends on who else uses the processors. */
#define STOPS_EACH 3
#define COST_LEAST (80 * 1000)

/* What wasn't used, for so many calls; and, as programs may be brief, to begin with. */
#define SAVED_MOST  16
#define SAVED_FIRST (20 * 1000 * 1000)

/* So many of each function are told of in any case, before there is any choice. */
#define TOLD_FIRST 16

#define RATE_MOST (AGENT_RATES - 1)

#define LOOK_EVERY (NS_PER_SECOND / 4)

/* Half of what is a fresh sign of life. */
#define FRESH (8 * 1000 * 1000)

/* These get what they need in registers of their own, or are no calls of anybody's. */
static bool has_own_convention(const char *function)
{
	return !strcmp(function, "__morestack") ||
	       !strcmp(function, "__fentry__") || !strcmp(function, "mcount") ||
	       !strcmp(function, "_mcount");
}

bool agent_may_tally(const struct agent_engine *engine,
		     const struct point *point)
{
	return engine->mode & AGENT_COUNTS &&
	       !has_own_convention(point->function->name);
}

bool agent_tally_instead(struct agent_point *own)
{
	if (!agent_may_tally(own->space->engine, own->point))
		return false;
	own->irreplaceable = true;
	own->reason = NULL;
	return true;
}

static void set_rate(struct agent_point *own, unsigned rate)
{
	own->tally.rate = rate;
	shared_set_tally_rate(&own->space->agent.shared, (unsigned)own->stub,
			      rate);
}

void agent_tally_begin(struct agent_point *own)
{
	if (!own->tallied)
		return;
	if (!own->space->tallies)
		own->space->budget.saved = SAVED_FIRST;
	own->space->tallies = true;
	set_rate(own, 0);
}

bool agent_tallies_some(const struct agent_space *space)
{
	return space->tallies && space->agent.state == AGENT_INSIDE;
}

static uint64_t cost_of(const struct moment *moment)
{
	const struct stop_price *price = moment->price;
	const struct stop_sums *stops = &moment->stops;
	uint64_t cost = price ? price->mean + price->waits : 0;

	if (stops->count)
		cost += stops->stopped_ns / stops->count;
	cost *= STOPS_EACH;
	return cost > COST_LEAST ? cost : COST_LEAST;
}

/* False where the last ones have taken more than their share. */
static bool may_stop(struct tally_budget *budget, const struct moment *moment)
{
	const uint64_t most = SAVED_MOST * budget->cost;
	const uint64_t now = moment->time;

	budget->cost = cost_of(moment);
	if (now > budget->since && budget->saved < most) {
		budget->saved += (now - budget->since) / SHARE;
		if (budget->saved > most)
			budget->saved = most;
	}
	if (now > budget->since)
		budget->since = now;
	if (budget->saved < budget->cost)
		return false;
	budget->saved -= budget->cost;
	return true;
}

bool agent_tally_hit(struct agent_point *own, struct moment *moment)
{
	struct tallying *tally = &own->tally;
	bool may;

	if (!own->tallied || moment->chosen.choice != CALL_KEPT)
		return false;
	may = may_stop(&own->space->budget, moment);
	/* What other threads had drawn before says nothing of the rate now. */
	if (++tally->told > TOLD_FIRST && !may && tally->rate < RATE_MOST &&
	    moment->chosen.rate == tally->rate)
		set_rate(own, tally->rate + 1);
	clocked_begin(moment);
	return true;
}

static bool is_looked_at(const struct agent_point *own)
{
	return own->tallied && own->stub >= 0;
}

/* Returns how many of the functions were called since the last look. */
static unsigned look_at_calls(struct agent_space *space)
{
	struct agent_counter now;
	struct agent_point *own;
	unsigned active = 0;

	for (own = space->points; own; own = own->next) {
		if (!is_looked_at(own))
			continue;
		shared_counter(&space->agent.shared, (unsigned)own->stub, &now);
		own->tally.recent = now.calls - own->tally.looked;
		own->tally.looked = now.calls;
		active += own->tally.recent != 0;
	}
	return active;
}

/* One of so many calls is about as many as are wanted. */
static unsigned rate_for(uint64_t calls, uint64_t wanted)
{
	unsigned rate = 0;

	while (rate < RATE_MOST && calls >> rate > wanted)
		rate++;
	return rate;
}

/*
 * Where calls have become rarer more of them are told of. Those that aren't made at all
 * say nothing: what comes next may be as many as there were.
 */
void agent_tallies_look(struct agent_space *space, uint64_t now)
{
	const uint64_t since = now - space->budget.looked;
	struct agent_point *own;
	unsigned active;
	uint64_t fair;

	if (!agent_tallies_some(space) || since < LOOK_EVERY)
		return;
	space->budget.looked = now;
	active = look_at_calls(space);
	if (!active || since == now)
		return;
	fair = since / SHARE / (space->budget.cost + 1) / 2 / active;
	for (own = space->points; own; own = own->next) {
		const unsigned rate = rate_for(own->tally.recent, fair + 1);

		if (is_looked_at(own) && own->tally.recent &&
		    rate + 1 < own->tally.rate)
			set_rate(own, rate);
	}
}

uint64_t agent_pause_for_tallies(const struct agent_space *space,
				 uint64_t pause)
{
	return agent_tallies_some(space) && pause > FRESH ? FRESH : pause;
}
