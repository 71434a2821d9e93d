/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "tracee/patch.h"

/* So many at once: rings are filling while they are told, and are read on. */
#define MANY_RECORDS 4096

/* Where there is nothing to read, only signs of life are given. */
#define BEAT_EVERY (NS_PER_SECOND / 10)

struct agent_engine *agent_engine_of(struct engine *base)
{
	return (struct agent_engine *)base;
}

struct agent_engine *agent_engine_of_source(struct event_source *source)
{
	return (struct agent_engine *)((char *)source -
				       offsetof(struct agent_engine, source));
}

struct agent_space *agent_find_space(const struct agent_engine *engine,
				     const struct probe_space *space)
{
	struct agent_space *own;

	for (own = engine->spaces; own; own = own->next)
		if (own->space == space)
			return own;
	return NULL;
}

/* One byte more than is shown, to know whether there are more. One frame costs
   no walk, and without any the call would go by its trap. */
static void set_detail(struct agent_space *space)
{
	const struct agent_engine *engine = space->engine;

	agent_set_detail(
		&space->agent,
		engine->without_pointed_to ? 0 : engine->string_bytes + 1,
		engine->without_stacks && engine->depth ? 1 : engine->depth);
}

struct agent_space *agent_get_space(struct agent_engine *engine,
				    struct probe_space *space)
{
	struct agent_space *own = agent_find_space(engine, space);

	if (own)
		return own;
	own = xcalloc(1, sizeof(*own));
	own->engine = engine;
	own->space = space;
	agent_init(&own->agent, space->space, engine->mode);
	set_detail(own);
	own->agent.mean = engine->sample;
	own->agent.rate = engine->rate;
	own->agent.least_hits = engine->least_hits;
	own->next = engine->spaces;
	engine->spaces = own;
	return own;
}

static int plant(struct engine *base, struct point *point)
{
	struct agent_engine *engine = agent_engine_of(base);
	const char *reason = agent_why_not(engine, point);
	struct agent_point *own;
	int err;

	if (reason) {
		if (point->function) {
			agent_note_trap(engine, reason);
			diag_debug(DIAG_PROBE, "agent: %s by traps: %s",
				   point->function->name, reason);
		}
		return -ENOTSUP;
	}
	own = xcalloc(1, sizeof(*own));
	if (engine->mode & AGENT_SAMPLES && point->function)
		engine->group = point->function->group;
	own->owner.ops = &agent_owner_ops;
	own->door.ops = &agent_door_ops;
	own->point = point;
	own->stub = own->filter = -1;
	if (point->function)
		agent_choose_way(engine, own, agent_library_of(point));
	err = trap_plant(point->space->space, point->address, &own->owner);
	if (err) {
		free(own);
		return err;
	}
	own->space = agent_get_space(engine, point->space);
	own->next = own->space->points;
	own->space->points = own;
	point->data = own;
	return 0;
}

static bool any_inside(const struct agent_engine *engine)
{
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->agent.state == AGENT_INSIDE)
			return true;
	return false;
}

/* Traps stand where they are needed before no slot leads to a hook any more. */
static void retire(struct agent_space *space)
{
	struct agent_point *own;

	space->engine->report.reason = space->agent.reason;
	if (!agent_any_walker_is_met(space))
		patch_remove_all(space->agent.space);
	for (own = space->points; own; own = own->next)
		if (own->point->walks)
			continue; /* calls are still to return */
		else if (agent_is_site(own) || agent_is_jump(own))
			agent_site_retire(own);
		else
			agent_unpatch_point(own);
	agent_retire(&space->agent);
	agent_ends_go_by_traps(space, 0, 0);
}

/* In a log: elsewhere threads that have none are counted together, or stopped. */
static bool lacks_buffers(const struct agent_space *space)
{
	const uint64_t mode = space->agent.mode;

	return mode & AGENT_RECORDS && mode & AGENT_WAITS &&
	       !(mode & AGENT_STACKS) && space->agent.state == AGENT_INSIDE &&
	       !space->agent.retired && shared_is_used_up(&space->agent.shared);
}

static void look_after(struct agent_space *space, uint64_t now)
{
	struct agent_engine *engine = space->engine;
	bool blind;

	agent_catch_all(space, now);
	blind = !agent_beat(&space->agent, &engine->ticks);
	agent_look_at_net(&space->agent, now);
	if (lacks_buffers(space)) {
		space->agent.reason = "it has more threads than buffers";
		retire(space);
	}
	agent_learn_stacks(space);
	agent_tallies_look(space, now);
	engine->report.blind += blind;
	agent_note_missed(space, blind, now);
}

void agent_look_soon(struct agent_engine *engine)
{
	engine->look_is_wanted = true;
	engine->source.due = clock_now();
}

/* Watched calls are read in between, where many come; the next time would be too late. */
static bool is_in_between(const struct agent_engine *engine, uint64_t now)
{
	return engine->mode & AGENT_WATCHES && !engine->look_is_wanted &&
	       now + engine->pace.pause < engine->drained + AGENT_PAUSE_MOST;
}

static void look_after_all(struct agent_engine *engine, uint64_t now)
{
	struct agent_space *space;

	if (is_in_between(engine, now))
		return;
	engine->look_is_wanted = false;
	ticks_adjust(&engine->ticks);
	for (space = engine->spaces; space; space = space->next)
		look_after(space, now);
	engine->drained = now;
}

static uint64_t tell_some(struct agent_engine *engine, uint64_t now,
			  uint64_t pause)
{
	const size_t told = agent_tell_some(engine);
	const uint64_t pace = agent_pace(&engine->pace, now, told);

	if (told >= MANY_RECORDS)
		return clock_now();
	return now +
	       (engine->mode & AGENT_WATCHES && pace < pause ? pace : pause);
}

static void drain(struct event_source *source, uint64_t now)
{
	struct agent_engine *engine = agent_engine_of_source(source);
	uint64_t pause = engine->mode & AGENT_WITH_RINGS ? AGENT_PAUSE_MOST :
							   BEAT_EVERY;
	struct agent_space *space;

	if (!any_inside(engine)) {
		source->due = 0;
		return;
	}
	look_after_all(engine, now);
	for (space = engine->spaces; space; space = space->next) {
		pause = agent_tables_make(space) ?
				0 :
				agent_pause_for_walkers(space, pause);
		pause = agent_pause_for_tallies(space, pause);
	}
	source->due = tell_some(engine, now, pause);
}

/* The clock isn't read once more: we may lose the processor in between. */
static void catch_up(struct engine *base, uint64_t time, pid_t tid)
{
	struct agent_engine *engine = agent_engine_of(base);
	const struct agent_all_of them = { .tid = tid };
	uint64_t until;

	/* What is told now comes here with each event. */
	if (engine->telling)
		return;
	agent_watch_forget_outer(engine, tid);
	until = ticks_at(&engine->ticks, time);
	if (agent_records_are_read(engine, time))
		(void)agent_records_tell_read(engine, until, them);
	else
		(void)agent_tell_with(engine, until, them);
}

/* Which slots there are is read from files: nobody is to wait for that. */
static void prepare(struct engine *base, struct probe_space *space)
{
	struct agent_space *own =
		agent_find_space(agent_engine_of(base), space);
	const struct module *module = space->space->modules;
	const char *reason;
	size_t count;

	if (!own)
		return;
	own->knows_walkers = false;
	reason = agent_why_replace_no_more(own);
	if (reason && !(agent_engine_of(base)->mode & AGENT_WATCHES)) {
		own->agent.reason = reason;
		retire(own);
	}
	for (; module; module = module->next)
		(void)image_imports(module->image, &count);
}

static void take_off_list(struct agent_point *own)
{
	struct agent_point **link = &own->space->points;

	while (*link != own)
		link = &(*link)->next;
	*link = own->next;
}

/* The function's code is gone; that of the trampoline isn't. */
static void forget_trampoline(struct agent_point *own)
{
	struct agent *agent = &own->space->agent;

	if (agent_door_of(own) && agent->state == AGENT_INSIDE)
		trap_unplant(agent->space,
			     agent->stubs[own->stub].trampoline +
				     offsetof(struct agent_trampoline, door),
			     &own->door);
}

static void unplant(struct engine *base UNUSED, struct point *point, bool gone)
{
	struct agent_point *own = point->data;

	agent_settle(own);
	take_off_list(own);
	if (!gone)
		agent_unpatch_point(own);
	else if (own->patched)
		forget_trampoline(own);
	if (own->has_door && (!gone || own->space->agent.state == AGENT_INSIDE))
		agent_shut_door(&own->space->agent, (unsigned)own->stub,
				&own->door);
	if (own->stub >= 0)
		agent_release(&own->space->agent, (unsigned)own->stub);
	if (own->filter >= 0)
		agent_release(&own->space->agent, (unsigned)own->filter);
	if (!gone && !own->lifted)
		trap_unplant(point->space->space, point->address, &own->owner);
	free(own);
}

static void forget_range(struct engine *base, struct probe_space *space,
			 taddr_t low, taddr_t high)
{
	struct agent_space *own =
		agent_find_space(agent_engine_of(base), space);

	if (!own)
		return;
	agent_forget_range(&own->agent, low, high);
	own->knows_walkers = false;
	agent_tables_forget(own, low, high);
	agent_watch_forget_rows(own);
}

static void forked(struct engine *base, struct probe_space *parent,
		   struct probe_space *child)
{
	const struct agent_space *own =
		agent_find_space(agent_engine_of(base), parent);

	if (own)
		agent_leave_copy(&own->agent, child->space);
}

static bool is_on_the_way(const struct engine *base)
{
	const struct agent_space *space;

	for (space = ((const struct agent_engine *)base)->spaces; space;
	     space = space->next)
		if (agent_is_on_the_way(&space->agent))
			return true;
	return false;
}

static void free_space(struct agent_space *space)
{
	unsigned i;

	if (space->agent.shared.memory) {
		shared_give_up(&space->agent.shared);
		agent_note_last(space);
	}
	agent_entries_forget(space->engine, space);
	agent_fini(&space->agent);
	agent_lists_free(space);
	agent_tables_free(space);
	for (i = 0; i < SHARED_BLOCKS; i++)
		free(space->walks[i]);
	free(space);
}

static void end(struct engine *base, struct probe_space *space)
{
	struct agent_space **link = &agent_engine_of(base)->spaces;

	while (*link && (*link)->space != space)
		link = &(*link)->next;
	if (*link) {
		struct agent_space *own = *link;

		*link = own->next;
		agent_unguard(&own->agent);
		free_space(own);
	}
}

static struct return_watch *watch_return(struct engine *base,
					 struct probe_space *space UNUSED,
					 const struct call *call UNUSED)
{
	struct agent_engine *engine = agent_engine_of(base);

	/* What is told in two ends has begun in the process; or at a trap. */
	return engine->mode & AGENT_WATCHES || engine->telling ?
		       &engine->watch :
		       NULL;
}

static void unwatch_return(struct return_watch *watch UNUSED)
{
}

static unsigned passed_over(struct engine *base, const struct moment *moment)
{
	const struct agent_engine *engine = agent_engine_of(base);
	const struct agent_space *own = agent_find_space(engine, moment->space);

	return own && agent_passes_over(own, moment) ? engine->group : 0;
}

static bool is_own_code(struct engine *base, struct probe_space *space,
			taddr_t address)
{
	const struct agent_space *own =
		agent_find_space(agent_engine_of(base), space);

	return own && agent_has_code(&own->agent, address);
}

static const struct engine_ops engine_ops = {
	.name = "agent",
	.promises = ENGINE_ENTRY | ENGINE_RETURN | ENGINE_MEMORY | ENGINE_WALK,
	.plant = plant,
	.unplant = unplant,
	.prepare = prepare,
	.watch_return = watch_return,
	.unwatch_return = unwatch_return,
	.forget_range = forget_range,
	.is_on_the_way = is_on_the_way,
	.close = agent_close_space,
	.is_awaited = agent_is_awaited,
	.leave = agent_leave_space,
	.end = end,
	.forked = forked,
	.catch_up = catch_up,
	.passed_over = passed_over,
	.is_own_code = is_own_code,
};

static bool is_last(const struct task *task)
{
	return task->tracee->tasks == task && !task->next;
}

/* Another one may get its place, and its number in our books. */
static void task_end(struct event_source *source, struct task *task)
{
	struct agent_engine *engine = agent_engine_of_source(source);
	struct agent_space *space;

	if (!task->tracee || !engine->spaces)
		return;
	(void)agent_tell_with(engine, ticks_now(),
			      (struct agent_all_of){ .tid = task->tid });
	space = agent_find_space(engine, probe_space_of(task->tracee->space));
	if (space)
		agent_task_ended(&space->agent, task->tid);
	agent_entries_forget_task(engine, task->tid);
	if (!space || !space->agent.shared.memory)
		return;
	shared_thread_ended(&space->agent.shared, task->tid);
	if (is_last(task))
		agent_note_last_missed(space);
}

/* Those that share its memory until they run a program of theirs go on. */
static void on_exec(struct event_source *source, struct task *task)
{
	struct agent_engine *engine = agent_engine_of_source(source);
	struct agent_space *space;

	if (!task->tracee || !engine->spaces)
		return;
	space = agent_find_space(engine, probe_space_of(task->tracee->space));
	if (!space || space->pid != task->tracee->pid ||
	    !space->agent.shared.memory)
		return;
	(void)agent_tell(engine);
	/* Who has left a hook by that, or was killed in one, writes no more. */
	shared_give_up(&space->agent.shared);
	agent_note_last_missed(space);
}

static bool on_signal(struct event_source *source, struct task *task,
		      int signal)
{
	struct agent_engine *engine = agent_engine_of_source(source);
	struct agent_space *space;

	if ((signal != SIGSEGV && signal != SIGBUS) || !task->tracee)
		return false;
	space = agent_find_space(engine, probe_space_of(task->tracee->space));
	if (!space)
		return false;
	/* Also while it is left: it may be running its code still. */
	if (agent_miss(&space->agent, task))
		return true;
	if (signal != SIGSEGV || !any_inside(engine) ||
	    !agent_fault(&space->agent, task))
		return false;
	retire(space);
	return true;
}

/*
 * What calltrap has started ends with it. Whoever else runs another program has traps in
 * that, and nobody who handles them until it is told of the first call: of the dynamic
 * linker's alone it runs into several before.
 */
static bool on_begin(struct event_source *source, struct task *task)
{
	struct tracee *tracee = task->tracee;
	struct probe_space *space = probe_space_of(tracee->space);
	struct agent_space *own;

	if (tracee->started || space->is_go ||
	    tracee->space->tracer->system_calls || agent_blocks_traps(task))
		return false;
	own = agent_get_space(agent_engine_of_source(source), space);
	own->pid = tracee->pid;
	own->agent.net_alone = true;
	return agent_send(&own->agent, task) == AGENT_SENT;
}

static const struct event_source_ops source_ops = {
	.signal = on_signal,
	.task_end = task_end,
	.exec = on_exec,
	.drain = drain,
	.keeps_traps_out = agent_keeps_traps_out,
	.stands = agent_task_stands,
	.begins = on_begin,
	.traps = agent_task_traps,
	.system_call = agent_task_calls,
};

static uint64_t mode_of(const struct agent_engine_config *config)
{
	if (config->watches)
		return AGENT_WATCHES | (config->sample ? AGENT_SAMPLES : 0) |
		       (config->stops ? AGENT_STOPS : 0);
	if (config->counts)
		return config->durations ? AGENT_COUNTS | AGENT_DURATIONS :
					   AGENT_COUNTS;
	return config->depth ? AGENT_RECORDS | AGENT_STACKS : AGENT_RECORDS;
}

struct agent_engine *agent_engine_new(const struct agent_engine_config *config)
{
	struct agent_engine *engine = xcalloc(1, sizeof(*engine));

	engine->engine.ops = &engine_ops;
	engine->source.ops = &source_ops;
	engine->watch.engine = &engine->engine;
	engine->string_bytes = config->string_bytes;
	engine->array_elements = config->array_elements;
	engine->depth = config->depth;
	engine->least_hits = config->least_hits;
	engine->sample = config->sample;
	engine->rate = config->rate;
	engine->held = config->held;
	engine->missed = config->missed;
	engine->context = config->context;
	engine->holds = config->holds;
	engine->replaces_all = config->replaces_all;
	engine->mode = mode_of(config);
	if (config->waits && engine->mode & AGENT_WITH_RINGS)
		engine->mode |= AGENT_WAITS;
	ticks_begin(&engine->ticks);
	engine->look = ticks_of_look();
	return engine;
}

void agent_engine_free(struct agent_engine *engine)
{
	if (!engine)
		return;
	while (engine->spaces) {
		struct agent_space *space = engine->spaces;

		engine->spaces = space->next;
		free_space(space);
	}
	agent_records_forget(engine);
	agent_entries_forget(engine, NULL);
	free(engine->lists);
	agent_tables_free_kept(engine);
	free(engine);
}

struct engine *agent_engine_base(struct agent_engine *engine)
{
	return &engine->engine;
}

struct event_source *agent_engine_source(struct agent_engine *engine)
{
	return &engine->source;
}

void agent_engine_leave_out(struct agent_engine *engine, bool pointed_to,
			    bool stacks)
{
	struct agent_space *space;

	engine->without_pointed_to = pointed_to;
	engine->without_stacks = stacks;
	for (space = engine->spaces; space; space = space->next)
		set_detail(space);
}

static const struct agent *agent_in(const struct agent_engine *engine,
				    pid_t pid)
{
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->pid == pid && (space->agent.state == AGENT_INSIDE ||
					  space->agent.state == AGENT_LEFT))
			return &space->agent;
	return NULL;
}

uint64_t agent_engine_addresses(const struct agent_engine *engine, pid_t pid)
{
	return agent_in(engine, pid) ? agent_addresses() : 0;
}

void agent_engine_resident(const struct agent_engine *engine, pid_t pid,
			   uint64_t *bytes)
{
	const struct agent *agent = agent_in(engine, pid);
	uint64_t found;

	if (agent && agent_resident(agent, pid, &found))
		*bytes = found;
}

void agent_engine_live(struct agent_engine *engine)
{
	struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		agent_live(&space->agent);
}
