/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

#include <errno.h>

#include "agent/patches.h"
#include "base/clock.h"
#include "base/diag.h"
#include "tracee/patch.h"

/* Slots that the dynamic linker fills in when they are first called through. */
#define LOOK_EVERY (NS_PER_SECOND / 4)

/* Of sites whose slot leads to the hook: each is read from the process, and while
   functions are new there may be a look for each stop. */
#define LOOK_LIFTED_EVERY (NS_PER_SECOND / 100)

/* Two names of one function have one stub, which can tell of one of them. */
static bool has_other(const struct agent_point *own)
{
	const struct agent_point *other;

	if (agent_is_callers(own))
		return !agent_callers_are_alone(
			trap_find(own->space->space->space,
				  own->point->address));
	for (other = own->space->points; other; other = other->next)
		if (other != own &&
		    other->point->address == own->point->address)
			return true;
	return false;
}

/* A hook enters behind the trap, where nobody else is told. */
static bool has_other_owner(const struct agent_point *own,
			    const struct trap *trap)
{
	return !agent_is_callers(own) &&
	       (trap->owners != &own->owner || own->owner.next);
}

const char *agent_why_not_now(const struct agent_point *own)
{
	if (agent_tells_ends(own) && !own->space->agent.tid_offset)
		return "threads whose numbers aren't known";
	return agent_why_not(own->space->engine, own->point);
}

void agent_catch_point(struct agent_point *own)
{
	const struct function *function = own->point->function;
	struct agent *agent = &own->space->agent;
	const struct trap *trap = trap_find(agent->space, own->point->address);
	const bool stub_alone = agent_is_stub(own);
	taddr_t target = 0;
	struct stub_config config;
	int stub;

	if (!trap || !trap->planted)
		return; /* it isn't there yet */
	if (stub_alone && agent_stub_target(own, &target) && !target)
		return; /* nor is what it would lead to */
	if (own->point->walks ? !agent_walkers_are_wanted(own->space) :
				(own->replaced || own->tallied) && !own->called)
		return;
	own->given_up = true;
	/* By now debug information has been asked for its prototype. */
	if (function && !stub_alone)
		agent_choose_way(own->space->engine, own,
				 agent_library_of(own->point));
	if (own->replaced || own->tallied)
		own->reason = agent_why_not_now(own);
	if (own->reason)
		return;
	if (has_other(own) || (own->tallied && has_other_owner(own, trap)) ||
	    (stub_alone && !target) ||
	    agent_point_config(own, own->point->address, &trap->insn, &config))
		return;
	config.leads_to = target;
	if (config.failure & AGENT_REPLACES && !agent_may_replace(own)) {
		own->given_up = own->reason && !agent_tally_instead(own);
		return;
	}
	stub = function && !stub_alone && !agent_is_callers(own) ?
		       agent_catch(agent, function->name, &config,
				   &own->space->engine->ticks) :
		       agent_make_stub(agent, &config,
				       &own->space->engine->ticks);
	diag_debug(DIAG_PROBE, "agent: %s: %d, %zu slots",
		   function ? function->name : "unwinding", stub,
		   agent->slot_count);
	if (stub < 0)
		return;
	own->given_up = false;
	own->stub = stub;
	agent_tally_begin(own);
	if (agent_is_callers(own))
		agent_callers_hook(own);
}

/* Whoever calls through a slot that leads to the function itself hits its trap:
   where nobody has, there is none. */
static bool may_have_slots(const struct agent_point *own)
{
	return own->stub >= 0 && own->hits != own->hits_looked &&
	       !agent_is_site(own) && !agent_is_stub(own) && !own->point->walks;
}

static void find_slots(struct agent_point *own)
{
	own->hits_looked = own->hits;
	if (agent_is_callers(own))
		agent_callers_hook(own);
	else
		(void)agent_find_slots(&own->space->agent,
				       own->point->function->name,
				       (unsigned)own->stub);
}

/* Calls through slots that came to be since. */
static void look_again(struct agent_space *space, uint64_t now)
{
	struct agent_point *own;

	space->looked = now;
	patch_look(space->space->space);
	for (own = space->points; own; own = own->next)
		if (may_have_slots(own))
			find_slots(own);
}

/* So often it was called directly, or by pointer, since there is a stub. */
#define MANY_HITS 64

bool agent_wants_door(const struct agent_point *own)
{
	const uint64_t mode = own->space->engine->mode;

	return own->point->walks ?
		       !own->point->unheard || mode & AGENT_RECORDS :
		       mode & AGENT_WITH_ROWS || agent_tells_ends(own) ||
			       own->tallied;
}

struct trap_owner *agent_door_of(struct agent_point *own)
{
	return agent_wants_door(own) ? &own->door : NULL;
}

/* Of those whose hits nobody counts, and that others wait for. */
#define FIRST_WAIT     (NS_PER_SECOND / 100)
#define MOST_DOUBLINGS 7

/* To look at all code that may lead there takes a while. */
static void put_off(struct agent_point *own, uint64_t now)
{
	own->patch_at = 2 * own->hits;
	own->retry_at = now + (FIRST_WAIT << own->doublings);
	if (own->doublings < MOST_DOUBLINGS)
		own->doublings++;
}

static void patch_point(struct agent_point *own, uint64_t now)
{
	struct agent *agent = &own->space->agent;
	int err = patches_apply(agent, (unsigned)own->stub, agent_door_of(own));

	own->patched = !err;
	/* -EEXIST: others write there, too (a uprobe, a debugger), for a while. */
	own->refused = err && err != -EAGAIN && err != -EBUSY && err != -EEXIST;
	if (err != -EAGAIN || !own->point->walks)
		put_off(own, now);
	if (err != -EAGAIN)
		diag_debug(DIAG_PROBE, "agent: jump over %s: %d",
			   own->point->function ? own->point->function->name :
						  "unwinding",
			   err);
}

static bool may_be_patched(const struct agent_point *own, uint64_t now)
{
	return own->stub >= 0 && !own->patched && !own->refused &&
	       (own->point->walks ?
			now >= own->retry_at :
			!agent_is_site(own) && !agent_is_callers(own) &&
				(!own->replaced || agent_is_stub(own)) &&
				own->hits >= MANY_HITS &&
				own->hits >= own->patch_at);
}

void agent_unpatch_point(struct agent_point *own)
{
	if (own->patched)
		patches_remove(&own->space->agent, (unsigned)own->stub,
			       agent_door_of(own));
	own->patched = false;
}

void agent_catch_all(struct agent_space *space, uint64_t now)
{
	const struct tracer *tracer = space->space->space->tracer;
	const bool lifted_too = now - space->looked_lifted > LOOK_LIFTED_EVERY;
	struct agent_point *own;

	if (space->agent.state != AGENT_INSIDE || tracer->gathering ||
	    tracer->leaving || !agent_samples_begin(space))
		return;
	if (lifted_too)
		space->looked_lifted = now;
	for (own = space->points; own; own = own->next)
		if (agent_is_site(own))
			agent_site_look(own, lifted_too);
		else if (own->stub < 0 && !own->given_up && !agent_is_jump(own))
			agent_catch_point(own);
	for (own = space->points; own; own = own->next)
		if (agent_is_jump(own))
			agent_jump_look(own);
	for (own = space->points; own; own = own->next)
		if (may_be_patched(own, now)) {
			patch_point(own, now);
			break; /* the next one another time: threads wait */
		}
	if (now - space->looked > LOOK_EVERY)
		look_again(space, now);
}
