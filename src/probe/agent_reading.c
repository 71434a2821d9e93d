/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

/* What records and watched calls have in common: whose they are. */

bool agent_reading_begin(struct agent_space *space, struct agent_reading *ret)
{
	struct agent_point *point;

	if (!space->agent.shared.memory)
		return false;
	*ret = (struct agent_reading){ .space = space };
	for (point = space->points; point; point = point->next)
		if (point->stub >= 0 && point->stub < AGENT_STUBS)
			ret->points[point->stub] = point;
	return true;
}

/* What the program has written itself may be of any time. */
static bool is_past(struct agent_engine *engine, uint64_t time)
{
	if (time > engine->latest)
		engine->latest = ticks_now();
	return time <= engine->latest;
}

struct agent_point *agent_reading_point(const struct agent_reading *reading,
					unsigned stub, uint64_t time)
{
	struct agent_point *point = stub < AGENT_STUBS ? reading->points[stub] :
							 NULL;

	return point && is_past(reading->space->engine, time) ? point : NULL;
}
