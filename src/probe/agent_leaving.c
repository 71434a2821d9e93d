/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

#include <time.h>

#include "agent/patches.h"
#include "base/clock.h"
#include "tracee/charge.h"
#include "tracee/patch.h"

size_t agent_tell_with(struct agent_engine *engine, uint64_t until,
		       struct agent_all_of them)
{
	return engine->mode & AGENT_WATCHES ?
		       agent_watch_tell(engine, until, them) :
		       agent_records_tell(engine, until, them);
}

size_t agent_tell(struct agent_engine *engine)
{
	return engine->mode & AGENT_WATCHES ?
		       agent_watch_tell(engine, ticks_now(),
					AGENT_ALL_OF_NOBODY) :
		       agent_records_tell_now(engine);
}

size_t agent_tell_some(struct agent_engine *engine)
{
	return engine->mode & AGENT_WATCHES ?
		       agent_watch_tell_some(engine, ticks_now()) :
		       agent_tell(engine);
}

uint64_t agent_lost(const struct agent_space *space)
{
	return shared_lost(&space->agent.shared) + space->untold;
}

void agent_note_missed(struct agent_space *space, bool blind, uint64_t now)
{
	const struct agent_engine *engine = space->engine;
	uint64_t lost;

	if (!(engine->mode & AGENT_WATCHES) || !space->agent.shared.memory)
		return;
	lost = agent_lost(space);
	if (blind || lost > space->lost)
		engine->missed(engine->context, space->pid,
			       lost > space->lost ? lost - space->lost : 0,
			       engine->drained, now);
	space->lost = lost;
}

void agent_settle(struct agent_point *own)
{
	agent_note_caught(own);
	(void)agent_tell_with(own->space->engine, ticks_now(),
			      (struct agent_all_of){ .point = own });
	if (!own->point->walks)
		agent_count_tell(own);
}

/*
 * The gate is closed. Threads may have lost the processor in the middle of a
 * record; those that don't get it for so long are told of as lost.
 */
#define LAST_READS 20

static void read_rest(struct agent_space *space)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned i;

	(void)agent_tell(space->engine);
	for (i = 0; i < LAST_READS && !shared_is_complete(&space->agent.shared);
	     i++) {
		nanosleep(&moment, NULL);
		(void)agent_tell(space->engine);
	}
	agent_nests_end(space);
	(void)agent_tell(space->engine);
	shared_give_up(&space->agent.shared);
}

/*
 * Whoever walks over stacks comes by the agent as long as calls are to return
 * there. None begins once the gate is shut.
 */
void agent_close_space(struct engine *base, struct probe_space *space)
{
	struct agent_space *own =
		agent_find_space(agent_engine_of(base), space);
	struct agent_point *point;

	if (!own || own->agent.state != AGENT_INSIDE)
		return;
	for (point = own->points; point; point = point->next)
		agent_note_caught(point);
	if (!agent_any_walker_is_met(own))
		return;
	agent_leave(&own->agent);
	space->closed = true;
}

bool agent_is_awaited(const struct engine *base)
{
	const struct agent_space *space;

	for (space = ((const struct agent_engine *)base)->spaces; space;
	     space = space->next)
		if (space->agent.state == AGENT_LEFT &&
		    returns_outstanding(&space->agent.returns))
			return true;
	return false;
}

static void keep_walkers(struct agent_space *space)
{
	struct agent_point *own;

	for (own = space->points; own; own = own->next) {
		if (!own->point->walks || !own->patched)
			continue;
		patches_keep(&space->agent, (unsigned)own->stub,
			     agent_door_of(own));
		own->patched = false;
	}
}

/* A process that has ended can't be asked any more whether its gate is shut. */
static bool is_blind(const struct agent_space *space)
{
	return space->agent.shared.memory &&
	       shared_closings(&space->agent.shared) != space->agent.blind;
}

void agent_note_last_missed(struct agent_space *space)
{
	agent_note_missed(space, is_blind(space), clock_now());
}

void agent_note_last(struct agent_space *space)
{
	struct agent_engine_report *report = &space->engine->report;

	report->blind += is_blind(space);
	report->lost += agent_lost(space);
	report->unmarked += agent_unmarked(space);
	agent_note_cost(space);
}

/*
 * Threads that lost the processor in a hook go on there. A program at its limit would
 * be killed for the pages that they then have anew.
 */
static void give_back(struct agent_space *space)
{
	struct shared *shared = &space->agent.shared;

	if (charge_has_room_for(space->pid, shared_used_at_work(shared), 0))
		shared_empty(shared);
	else
		shared_empty_rings(shared);
}

void agent_leave_space(struct engine *base, struct probe_space *space)
{
	struct agent_engine *engine = agent_engine_of(base);
	struct agent_space *own = agent_find_space(engine, space);
	struct agent_point *point;

	if (!own)
		return;
	if (own->agent.state != AGENT_INSIDE &&
	    own->agent.state != AGENT_LEFT) {
		if (agent_is_on_the_way(&own->agent))
			agent_note_what_stays(own);
		agent_leave(&own->agent);
		return;
	}
	agent_close_space(base, space); /* if it has just begun */
	if (returns_outstanding(&own->agent.returns))
		keep_walkers(own);
	patch_remove_all(space->space); /* with one wait for all of them */
	for (point = own->points; point; point = point->next)
		agent_unpatch_point(point);
	agent_leave(&own->agent);
	read_rest(own);
	for (point = own->points; point; point = point->next)
		agent_settle(point);
	agent_note_last_missed(own);
	agent_note_last(own);
	agent_note_what_stays(own);
	give_back(own);
	shared_close(&own->agent.shared);
}
