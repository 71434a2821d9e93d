/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_engine.h"

/* On machines that no agent is written for: nobody ever has an engine. */

struct agent_engine *
agent_engine_new(const struct agent_engine_config *config UNUSED)
{
	return NULL;
}

void agent_engine_free(struct agent_engine *engine UNUSED)
{
}

void agent_engine_live(struct agent_engine *engine UNUSED)
{
}

void agent_engine_kept(struct agent_engine *engine UNUSED, pid_t pid UNUSED,
		       uint64_t handle UNUSED, bool gone UNUSED)
{
}

void agent_engine_kept_again(struct agent_engine *engine UNUSED,
			     pid_t pid UNUSED, uint64_t handle UNUSED)
{
}

void agent_engine_set_rate(struct agent_engine *engine UNUSED,
			   unsigned rate UNUSED)
{
}

void agent_engine_leave_out(struct agent_engine *engine UNUSED,
			    bool pointed_to UNUSED, bool stacks UNUSED)
{
}

uint64_t agent_engine_spent_ns(const struct agent_engine *engine UNUSED,
			       uint64_t *measured_ret)
{
	*measured_ret = 0;
	return 0;
}

uint64_t agent_engine_lost_ns(const struct agent_engine *engine UNUSED)
{
	return 0;
}

uint64_t agent_engine_addresses(const struct agent_engine *engine UNUSED,
				pid_t pid UNUSED)
{
	return 0;
}

void agent_engine_resident(const struct agent_engine *engine UNUSED,
			   pid_t pid UNUSED, uint64_t *bytes UNUSED)
{
}

uint64_t agent_engine_chosen_stops(const struct agent_engine *engine UNUSED)
{
	return 0;
}

struct engine *agent_engine_base(struct agent_engine *engine UNUSED)
{
	return NULL;
}

struct event_source *agent_engine_source(struct agent_engine *engine UNUSED)
{
	return NULL;
}

struct agent_engine_report
agent_engine_report(const struct agent_engine *engine UNUSED)
{
	return (struct agent_engine_report){ 0 };
}
