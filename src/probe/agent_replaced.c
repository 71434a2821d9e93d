/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "agent/callable.h"
#include "agent/replaceable.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"

/*
 * Functions that may throw, be cancelled or never come back return to a place of
 * the agent's. Whoever walks over the stack comes by the agent first, which puts
 * the addresses back: until he does, none is replaced.
 */

/* A table counts them as they begin, which costs less. */
static bool is_done_by_cxx(const struct function *function, const char *library)
{
	return replaced_by_agent(function->name) ||
	       (is_cxx_library(library) &&
		works_in_cxx_library(function->name));
}

static bool may_replace(const struct agent_engine *engine,
			const struct function *function, const char *library)
{
	if (engine->mode & AGENT_RECORDS && is_done_by_cxx(function, library))
		return true;
	return engine->replaces_all ||
	       (is_c_library(library) && waits_in_c_library(function->name)) ||
	       waits_for_database(function->name, library);
}

/* Compiled code whose collector reads return addresses (V8, HotSpot) calls by
   pointer: what comes through slots is called by others. */
const char *agent_why_not_replaceable(const struct agent_engine *engine,
				      const struct function *function,
				      const char *library)
{
	if (engine->mode & AGENT_WATCHES ||
	    !may_replace(engine, function, library))
		return "not known never to throw";
	return function->returns == RETURNS_NEVER ||
			       !replaceable_by_agent(function->name) ?
		       "returns in its own way" :
		       NULL;
}

/* ---- who walks ---- */

/* Within operator new nothing is thrown again. */
static bool any_is_hidden(const struct space *space, uint64_t mode)
{
	const struct module *module;

	for (module = space->modules; module; module = module->next)
		if (nonlocals_are_hidden(module, mode & AGENT_WATCHES))
			return true;
	return false;
}

static bool has_cutter(const struct module *module)
{
	const struct symbol *found[STACK_CUTTERS];
	size_t i;

	image_find_symbols(module->image, stack_cutters, STACK_CUTTERS, found);
	for (i = 0; i < STACK_CUTTERS; i++)
		if (found[i] && found[i]->kind == SYMBOL_FUNCTION)
			return true;
	return false;
}

static bool any_cuts_stacks(const struct space *space)
{
	const struct module *module;

	for (module = space->modules; module; module = module->next)
		if (cuts_stacks(module->name) || has_cutter(module))
			return true;
	return false;
}

static const char *why_not_replaced(struct agent_space *space)
{
	const struct agent_point *own;

	if (!space->knows_walkers) {
		space->hides_walkers =
			any_is_hidden(space->space->space, space->engine->mode);
		space->cuts_stacks = any_cuts_stacks(space->space->space);
	}
	space->knows_walkers = true;
	if (space->hides_walkers)
		return "exceptions that are thrown by nobody knows whom";
	if (space->cuts_stacks)
		return "stacks that are cut in pieces";
	for (own = space->points; own; own = own->next)
		if (own->point->walks && (own->refused || own->given_up))
			return "exceptions";
	return NULL;
}

bool agent_any_walker_is_met(const struct agent_space *space)
{
	const struct agent_point *own;

	for (own = space->points; own; own = own->next)
		if (own->point->walks && own->patched)
			return true;
	return false;
}

static bool walkers_are_met(const struct agent_space *space)
{
	const struct agent_point *own;

	for (own = space->points; own; own = own->next)
		if (own->point->walks && !own->patched)
			return false;
	return true;
}

bool agent_walkers_are_wanted(const struct agent_space *space)
{
	return space->engine->mode & AGENT_WATCHES || space->replaces;
}

/* While they don't all come, calls go by traps. */
#define UNTIL_MET (2 * 1000 * 1000)

/* Half of what is a fresh sign of life. */
#define FRESH (8 * 1000 * 1000)

uint64_t agent_pause_for_walkers(const struct agent_space *space,
				 uint64_t pause)
{
	uint64_t most = FRESH;

	if (!space->replaces || space->agent.state != AGENT_INSIDE)
		return pause;
	if (!space->agent.retired && !walkers_are_met(space))
		most = UNTIL_MET;
	else if (!agent_any_walker_is_met(space))
		return pause;
	return pause < most ? pause : most;
}

bool agent_walks_over_some(struct agent_space *space)
{
	if (space->agent.state != AGENT_INSIDE ||
	    !returns_outstanding(&space->agent.returns))
		return false;
	space->replaces = true;
	return true;
}

bool agent_may_replace(struct agent_point *own)
{
	own->space->replaces = true;
	own->reason = why_not_replaced(own->space);
	return !own->reason && walkers_are_met(own->space);
}

const char *agent_why_replace_no_more(struct agent_space *space)
{
	return space->replaces && space->agent.state == AGENT_INSIDE &&
			       !space->agent.retired ?
		       why_not_replaced(space) :
		       NULL;
}

/* ---- stacks ---- */

/* All that lies between a thread's stack pointer and its own data is its stack
   (glibc's, musl's); or [stack], of the first. */
static struct shared_stack stack_of(pid_t pid, taddr_t pointer, pid_t tid)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	FILE *maps = tid == pid ? procfs_maps_open(pid) : NULL;
	struct shared_stack stack = { 0 };

	if (tid != pid && procfs_find_mapping(pid, pointer, mapping))
		stack = (struct shared_stack){ mapping->start,
					       pointer & -sizeof(taddr_t) };
	while (maps && !stack.high && procfs_maps_next(maps, mapping))
		if (!strcmp(mapping->path, "[stack]"))
			stack = (struct shared_stack){ mapping->start,
						       mapping->end };
	if (maps)
		fclose(maps);
	return stack;
}

struct learning {
	struct agent_space *space;
	unsigned left; /* so many more: mappings may be many, and threads brief */
};

static void learn_stack(void *context, taddr_t pointer, pid_t tid)
{
	struct learning *learning = context;
	struct agent_space *space = learning->space;
	struct shared_stack stack;

	if (!learning->left)
		return;
	learning->left--;
	stack = stack_of(space->pid, pointer, tid);
	shared_set_stack(&space->agent.shared, pointer, tid, &stack);
}

/*
 * Who throws then asks the kernel for nothing, which the program may have
 * forbidden itself since.
 */
void agent_learn_stacks(struct agent_space *space)
{
	struct learning learning = { space, 4 };

	if (space->replaces && !(space->engine->mode & AGENT_WATCHES) &&
	    space->agent.state == AGENT_INSIDE && space->agent.shared.memory)
		shared_visit_new(&space->agent.shared, learn_stack, &learning);
}

/* ---- counting ---- */

struct unreturned {
	taddr_t stub;
	uint64_t since, now;
	struct agent_counter *counter;
};

static void add_call(void *context, taddr_t stub, uint64_t began)
{
	const struct unreturned *calls = context;

	if (stub != calls->stub || began > calls->now || began < calls->since)
		return;
	calls->counter->ticks += calls->now - began;
	if (calls->counter->longest < calls->now - began)
		calls->counter->longest = calls->now - began;
}

void agent_count_running(const struct agent_point *own, uint64_t now,
			 struct agent_counter *counter)
{
	struct agent *agent = &own->space->agent;
	struct unreturned calls = {
		.stub = agent_hook_of(agent, (unsigned)own->stub),
		.since = agent->since,
		.now = now,
		.counter = counter,
	};

	if (own->replaced && agent->state == AGENT_LEFT)
		returns_visit_running(&agent->returns, add_call, &calls);
}
