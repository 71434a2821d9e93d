/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "probe/agent_engine.h"
#include "probe/agent_private.h"

/* What is said at the end: what was caught in which way, and what that has cost. */

void agent_note_trap(struct agent_engine *engine, const char *reason)
{
	struct agent_engine_refusal *refusals = engine->report.refusals;
	unsigned i;

	for (i = 0; i < AGENT_ENGINE_REFUSALS; i++) {
		if (!refusals[i].functions)
			refusals[i].reason = reason;
		if (strcmp(refusals[i].reason, reason))
			continue;
		refusals[i].functions++;
		return;
	}
}

static const char *why_by_trap(const struct agent_point *own)
{
	const struct agent *agent = &own->space->agent;

	if (own->reason)
		return own->reason;
	if (agent->reason)
		return agent->reason;
	if (agent->state == AGENT_INSIDE)
		return own->stub < 0 && !own->called ? "not called" :
						       "no slot leads there";
	return agent->hits ? "few calls" : "not called";
}

void agent_note_caught(struct agent_point *own)
{
	struct agent_space *space = own->space;

	/* What a jump leads to has a point at its entry. */
	if (own->noted || own->point->walks || agent_is_jump(own))
		return;
	own->noted = true;
	if (own->stub >= 0 &&
	    (own->patched ||
	     agent_has_slots(&space->agent, agent_first_stub(own))))
		space->engine->report.functions++;
	else
		agent_note_trap(space->engine, why_by_trap(own));
}

static void add_cost(struct shared_cost *sum, const struct shared_cost *cost)
{
	sum->calls += cost->calls;
	sum->ticks += cost->ticks;
	sum->waited += cost->waited;
	sum->turned += cost->turned;
	sum->hooks += cost->hooks;
}

/* What its hooks have measured is kept. */
void agent_note_cost(struct agent_space *space)
{
	const struct shared_cost cost = shared_cost(&space->agent.shared);

	add_cost(&space->engine->cost, &cost);
}

void agent_note_what_stays(const struct agent_space *own)
{
	struct agent_engine_report *report = &own->engine->report;

	report->code += agent_code_bytes(&own->agent);
	report->addresses += agent_addresses();
}

/* Of those that are over, and of those that aren't. */
static struct shared_cost cost_so_far(const struct agent_engine *engine)
{
	struct shared_cost sum = engine->cost;
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next) {
		struct shared_cost cost;

		if (space->agent.state != AGENT_INSIDE)
			continue;
		cost = shared_cost(&space->agent.shared);
		add_cost(&sum, &cost);
	}
	return sum;
}

uint64_t agent_engine_lost_ns(const struct agent_engine *engine)
{
	const struct shared_cost cost = cost_so_far(engine);

	return ticks_length(&engine->ticks, cost.hooks + cost.waited);
}

uint64_t agent_engine_spent_ns(const struct agent_engine *engine,
			       uint64_t *measured_ret)
{
	const struct shared_cost cost = cost_so_far(engine);

	*measured_ret = cost.calls;
	return ticks_length(&engine->ticks,
			    cost.ticks * AGENT_MEASURED + cost.turned);
}

struct agent_engine_report
agent_engine_report(const struct agent_engine *engine)
{
	struct agent_engine_report report = engine->report;
	const struct shared_cost *cost = &engine->cost;

	if (cost->calls)
		report.ns = (double)ticks_length(&engine->ticks, cost->ticks) /
			    (double)cost->calls;
	report.waited_ns = ticks_length(&engine->ticks, cost->waited);
	return report;
}
