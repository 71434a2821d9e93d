/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "agent/patches.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "tracee/patch.h"

/* Rings of a busy thread hold some 15,000 calls. */
#define READ_EVERY (2 * 1000 * 1000)

/* So many at once: rings are filling while they are told, and are read on. */
#define MANY_RECORDS 4096

/* Where there is nothing to read, only signs of life are given. */
#define BEAT_EVERY (NS_PER_SECOND / 10)

/* Slots that the dynamic linker fills in when they are first called through. */
#define LOOK_EVERY (NS_PER_SECOND / 4)

static struct agent_engine *engine_of(struct engine *base)
{
	return (struct agent_engine *)base;
}

static struct agent_engine *engine_of_source(struct event_source *source)
{
	return (struct agent_engine *)((char *)source -
				       offsetof(struct agent_engine, source));
}

static struct agent_space *find_space(const struct agent_engine *engine,
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

static struct agent_space *get_space(struct agent_engine *engine,
				     struct probe_space *space)
{
	struct agent_space *own = find_space(engine, space);

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

/* ---- getting in ---- */

/* Nobody else is told of the task at this trap, and it has just come to it. */
static bool is_alone(const struct trap_owner *owner, const struct task *task)
{
	const struct space *space = task->tracee->space;
	const struct trap *trap = trap_find(task->tracee->space, task->place);

	return trap && trap->owners == owner && !owner->next &&
	       !task->tracee->muted && !space->tracer->leaving &&
	       space->linkmap.complete;
}

static bool may_take(const struct agent_point *own, const struct task *task)
{
	return own->space->agent.state <= AGENT_CLOSING &&
	       is_alone(&own->owner, task);
}

/* Of the libraries that a program begins with, all in all. */
#define TLS_MOST (64 << 10)

static void find_errno(struct agent *agent, const struct moment *moment)
{
	taddr_t place;

	int64_t offset;

	if (agent->state != AGENT_INSIDE || agent->errno_offset ||
	    !errno_place(moment, &place))
		return;
	/* As far from each thread's pointer as from this one's only where it is
	   a variable of the thread: below it, in its static TLS. */
	offset = (int64_t)(place - moment->regs->user.fs_base);
	if (offset < 0 && offset > -TLS_MOST)
		agent->errno_offset = offset;
}

static void note_refusal(struct agent_space *space)
{
	if (space->agent.state != AGENT_INSIDE && space->agent.reason)
		space->engine->report.reason = space->agent.reason;
}

/* Returns whether the task has gone to do something for us. */
static bool take(struct agent_point *own, struct task *task)
{
	struct agent_space *space = own->space;
	struct agent_engine *engine = space->engine;

	if (space->agent.state == AGENT_INSIDE && is_alone(&own->owner, task) &&
	    agent_fetch_page(&space->agent, task))
		return true;
	if (!may_take(own, task)) {
		note_refusal(space);
		return false;
	}
	space->pid = task->tracee->pid;
	if (agent_take(&space->agent, task))
		return true;
	note_refusal(space);
	if (space->agent.state == AGENT_INSIDE) {
		ticks_gauge(&engine->ticks);
		engine->report.reason = NULL;
		engine->source.due = clock_now(); /* the rest, at leisure */
	}
	return false;
}

/*
 * Mostly a slot that has been bound just now. Where it isn't, as calls come by
 * pointer, it is looked for ever more rarely.
 */
static void note_hit(struct agent_point *own)
{
	if (own->stub < 0) {
		if (!own->called)
			own->space->engine->source.due = clock_now();
		own->called = true;
		return;
	}
	own->hits++;
	if (own->hits & (own->hits - 1))
		return;
	own->space->looked = 0;
	own->space->engine->source.due = clock_now();
}

static void tell_walk(struct agent_point *own, struct task *task)
{
	struct moment moment = moment_of_stop(task);

	engines_catch_up(moment.space->prober, moment.time, moment.tid);
	own->point->ops->reached(own->point, &moment);
	agent_ends_go_by_traps(own->space, task->tid,
			       moment.arch->sp(moment.regs));
}

/* See below. */
static void catch_point(struct agent_point *own);

/*
 * It goes on by the stub, which puts return addresses back. Who has come just now
 * (glibc loads libgcc_s for the first thread that is cancelled) gets one at once.
 */
static void on_walk(struct agent_point *own, struct task *task)
{
	const struct agent *agent = &own->space->agent;

	tell_walk(own, task);
	if (own->stub < 0 && !own->given_up &&
	    agent_walks_over_some(own->space))
		catch_point(own);
	if (own->stub < 0 || agent->state != AGENT_INSIDE)
		return;
	agent->space->arch->set_ip(&task->regs,
				   agent_hook_of(agent, (unsigned)own->stub));
	task->ip_changed = true;
}

static void tell_reached(struct agent_point *own, struct task *task,
			 const struct moment *moment)
{
	if (own->space->engine->mode & AGENT_WITH_ROWS)
		agent_watch_reached(own, task, moment);
	else
		own->point->ops->reached(own->point, moment);
}

/* It goes to the agent, which will tell of the call. */
static bool passes_untold(struct agent_point *own, struct task *task)
{
	return (agent_is_site(own) && agent_site_pass(own, task)) ||
	       (agent_is_jump(own) && agent_jump_pass(own, task));
}

static void on_hit(struct trap_owner *owner, struct task *task)
{
	struct agent_point *own = (struct agent_point *)owner;
	struct point *point = own->point;
	struct moment moment;

	if (take(own, task))
		return;
	if (point->walks) {
		on_walk(own, task);
		return;
	}
	note_hit(own);
	moment = moment_of_stop(task);
	moment.chosen = agent_chosen_at(own->space, &moment);
	find_errno(&own->space->agent, &moment);
	if (passes_untold(own, task))
		return;
	tell_reached(own, task, &moment);
	if (agent_is_site(own))
		agent_site_told(own, task);
	else if (agent_is_jump(own))
		agent_jump_told(own, task);
}

static const struct trap_owner_ops owner_ops = { .hit = on_hit };

/* One that the agent could not tell of: it stands for the function's entry. */
static void on_door(struct trap_owner *owner, struct task *task)
{
	struct agent_point *own =
		(struct agent_point *)((char *)owner -
				       offsetof(struct agent_point, door));
	struct regs regs = task->regs;
	struct moment moment = moment_of_stop(task);

	if (own->point->walks) {
		tell_walk(own, task);
		return;
	}
	regs.user.rip = own->point->address;
	moment.regs = &regs;
	moment.chosen = agent_chosen_at(own->space, &moment);
	tell_reached(own, task, &moment);
}

static const struct trap_owner_ops door_ops = { .hit = on_door };

/* ---- catching ---- */

static int plant(struct engine *base, struct point *point)
{
	struct agent_engine *engine = engine_of(base);
	const char *reason = agent_why_not(engine, point);
	struct agent_point *own;
	int err;

	if (reason) {
		if (point->function)
			agent_note_trap(engine, reason);
		return -ENOTSUP;
	}
	own = xcalloc(1, sizeof(*own));
	if (engine->mode & AGENT_SAMPLES && point->function)
		engine->group = point->function->group;
	own->owner.ops = &owner_ops;
	own->door.ops = &door_ops;
	own->point = point;
	own->stub = -1;
	own->replaced = point->function && !(engine->mode & AGENT_WATCHES) &&
			!agent_is_callable(point);
	err = trap_plant(point->space->space, point->address, &own->owner);
	if (err) {
		free(own);
		return err;
	}
	own->space = get_space(engine, point->space);
	own->next = own->space->points;
	own->space->points = own;
	point->data = own;
	return 0;
}

/* Two names of one function have one stub, which can tell of one of them. */
static bool has_other(const struct agent_point *own)
{
	const struct agent_point *other;

	if (agent_is_callers(own))
		return !agent_callers_are_alone(own);
	for (other = own->space->points; other; other = other->next)
		if (other != own &&
		    other->point->address == own->point->address)
			return true;
	return false;
}

static const char *why_not_now(const struct agent_point *own)
{
	if (agent_tells_ends(own) && !own->space->agent.tid_offset)
		return "threads whose numbers aren't known";
	return agent_why_not(own->space->engine, own->point);
}

static void catch_point(struct agent_point *own)
{
	const struct function *function = own->point->function;
	struct agent *agent = &own->space->agent;
	const struct trap *trap = trap_find(agent->space, own->point->address);
	const bool stub_alone = agent_is_stub(own);
	const taddr_t target = stub_alone ? agent_stub_target(own) : 0;
	struct stub_config config;
	int stub;

	if (!trap || !trap->planted)
		return; /* it isn't there yet */
	if (own->point->walks ? !agent_walkers_are_wanted(own->space) :
				own->replaced && !own->called)
		return;
	own->given_up = true;
	/* By now debug information has been asked for its prototype. */
	if (own->replaced)
		own->reason = why_not_now(own);
	if (own->reason)
		return;
	if (has_other(own) || (stub_alone && !target) ||
	    agent_point_config(own, own->point->address, &trap->insn, &config))
		return;
	config.leads_to = target;
	if (config.failure & AGENT_REPLACES && !agent_may_replace(own)) {
		own->given_up = own->reason;
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

/*
 * Where nobody wants to be told of anything there is no trap to stop at. In a log
 * returns that are put back are told by traps.
 */
static struct trap_owner *door_of(struct agent_point *own)
{
	const uint64_t mode = own->space->engine->mode;
	const bool told = own->point->walks ?
				  !own->point->unheard || mode & AGENT_RECORDS :
				  mode & AGENT_WITH_ROWS ||
					  agent_tells_ends(own);

	return told ? &own->door : NULL;
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
	int err = patches_apply(agent, (unsigned)own->stub, door_of(own));

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

static void unpatch_point(struct agent_point *own)
{
	if (own->patched)
		patches_remove(&own->space->agent, (unsigned)own->stub,
			       door_of(own));
	own->patched = false;
}

static void catch_all(struct agent_space *space, uint64_t now)
{
	struct agent_point *own;

	if (space->agent.state != AGENT_INSIDE ||
	    space->space->space->tracer->leaving || !agent_samples_begin(space))
		return;
	for (own = space->points; own; own = own->next)
		if (agent_is_site(own))
			agent_site_look(own);
		else if (own->stub < 0 && !own->given_up && !agent_is_jump(own))
			catch_point(own);
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

static bool any_inside(const struct agent_engine *engine)
{
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->agent.state == AGENT_INSIDE)
			return true;
	return false;
}

/* What happened by then, and all of them. Returns how much that was. */
static size_t tell_with(struct agent_engine *engine, uint64_t until,
			struct agent_all_of them)
{
	return engine->mode & AGENT_WATCHES ?
		       agent_watch_tell(engine, until, them) :
		       agent_records_tell(engine, until, them);
}

/* What happened by now. */
static size_t tell(struct agent_engine *engine)
{
	return tell_with(engine, ticks_now(), AGENT_ALL_OF_NOBODY);
}

static uint64_t lost_of(const struct agent_space *space)
{
	return shared_lost(&space->agent.shared) + space->untold;
}

static void note_missed(struct agent_space *space, bool blind, uint64_t now)
{
	const struct agent_engine *engine = space->engine;
	uint64_t lost;

	if (!(engine->mode & AGENT_WATCHES) || !space->agent.shared.memory)
		return;
	lost = lost_of(space);
	if (blind || lost > space->lost)
		engine->missed(engine->context, space->pid,
			       lost > space->lost ? lost - space->lost : 0,
			       engine->drained, now);
	space->lost = lost;
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
			unpatch_point(own);
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

	catch_all(space, now);
	blind = !agent_beat(&space->agent, &engine->ticks);
	if (lacks_buffers(space)) {
		space->agent.reason = "it has more threads than buffers";
		retire(space);
	}
	agent_learn_stacks(space);
	engine->report.blind += blind;
	note_missed(space, blind, now);
}

static void drain(struct event_source *source, uint64_t now)
{
	struct agent_engine *engine = engine_of_source(source);
	uint64_t pause = engine->mode & AGENT_WITH_RINGS ? READ_EVERY :
							   BEAT_EVERY;
	struct agent_space *space;

	if (!any_inside(engine)) {
		source->due = 0;
		return;
	}
	ticks_adjust(&engine->ticks);
	for (space = engine->spaces; space; space = space->next)
		look_after(space, now);
	for (space = engine->spaces; space; space = space->next)
		pause = agent_pause_for_walkers(space, pause);
	engine->drained = now;
	if (tell(engine) >= MANY_RECORDS)
		source->due = clock_now();
	else
		source->due = now + pause;
}

/* The clock isn't read once more: we may lose the processor in between. */
static void catch_up(struct engine *base, uint64_t time, pid_t tid)
{
	struct agent_engine *engine = engine_of(base);
	uint64_t until;

	/* What is told now comes here with each event. */
	if (engine->telling)
		return;
	until = ticks_at(&engine->ticks, time);
	(void)tell_with(engine, until, (struct agent_all_of){ .tid = tid });
}

/* Which slots there are is read from files: nobody is to wait for that. */
static void prepare(struct engine *base, struct probe_space *space)
{
	struct agent_space *own = find_space(engine_of(base), space);
	const struct module *module = space->space->modules;
	const char *reason;
	size_t count;

	if (!own)
		return;
	own->knows_walkers = false;
	reason = agent_why_replace_no_more(own);
	if (reason && !(engine_of(base)->mode & AGENT_WATCHES)) {
		own->agent.reason = reason;
		retire(own);
	}
	for (; module; module = module->next)
		(void)image_imports(module->image, &count);
}

/* ---- the end ---- */

/* What is told of it before it goes. */
static void settle(struct agent_point *own)
{
	agent_note_caught(own);
	(void)tell_with(own->space->engine, ticks_now(),
			(struct agent_all_of){ .point = own });
	if (!own->point->walks)
		agent_count_tell(own);
}

static void take_off_list(struct agent_point *own)
{
	struct agent_point **link = &own->space->points;

	while (*link != own)
		link = &(*link)->next;
	*link = own->next;
}

/* The function's code is gone; that of the trampoline isn't. */
static void forget_door(struct agent_point *own)
{
	struct agent *agent = &own->space->agent;

	if (door_of(own) && agent->state == AGENT_INSIDE)
		trap_unplant(agent->space,
			     agent->stubs[own->stub].trampoline +
				     offsetof(struct agent_trampoline, door),
			     &own->door);
}

static void unplant(struct engine *base UNUSED, struct point *point, bool gone)
{
	struct agent_point *own = point->data;

	settle(own);
	take_off_list(own);
	if (!gone)
		unpatch_point(own);
	else if (own->patched)
		forget_door(own);
	if (own->stub >= 0)
		agent_release(&own->space->agent, (unsigned)own->stub);
	if (!gone && !own->lifted)
		trap_unplant(point->space->space, point->address, &own->owner);
	free(own);
}

static void forget_range(struct engine *base, struct probe_space *space,
			 taddr_t low, taddr_t high)
{
	struct agent_space *own = find_space(engine_of(base), space);

	if (!own)
		return;
	agent_forget_range(&own->agent, low, high);
	own->knows_walkers = false;
	agent_watch_forget_rows(own);
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

	(void)tell(space->engine);
	for (i = 0; i < LAST_READS && !shared_is_complete(&space->agent.shared);
	     i++) {
		nanosleep(&moment, NULL);
		(void)tell(space->engine);
	}
	shared_give_up(&space->agent.shared);
}

/*
 * Whoever walks over stacks comes by the agent as long as calls are to return
 * there. Most of them do at once; none begins once the gate is shut.
 */
#define WAITS_FOR_RETURNS 10

static void keep_walkers(struct agent_space *space)
{
	struct agent_point *own;

	for (own = space->points; own; own = own->next) {
		if (!own->point->walks || !own->patched)
			continue;
		patches_keep(&space->agent, (unsigned)own->stub, door_of(own));
		own->patched = false;
	}
}

static void leave_walkers(struct agent_space *space)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct agent *agent = &space->agent;
	unsigned i;

	if (!agent_any_walker_is_met(space))
		return;
	agent_leave(agent);
	for (i = 0;
	     i < WAITS_FOR_RETURNS && returns_outstanding(&agent->returns); i++)
		nanosleep(&moment, NULL);
	if (i == WAITS_FOR_RETURNS)
		keep_walkers(space);
}

static void forked(struct engine *base, struct probe_space *parent,
		   struct probe_space *child)
{
	const struct agent_space *own = find_space(engine_of(base), parent);

	if (own)
		agent_leave_copy(&own->agent, child->space);
}

/* A process that has ended can't be asked any more whether its gate is shut. */
static bool is_blind(const struct agent_space *space)
{
	return space->agent.shared.memory &&
	       shared_closings(&space->agent.shared) != space->agent.blind;
}

/* Later nobody knows the process any more, or another program that it runs. */
static void note_last_missed(struct agent_space *space)
{
	note_missed(space, is_blind(space), clock_now());
}

static void note_last(struct agent_space *space)
{
	struct agent_engine_report *report = &space->engine->report;

	report->blind += is_blind(space);
	report->lost += lost_of(space);
	report->unmarked += agent_unmarked(space);
	agent_note_cost(space);
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

static void leave(struct engine *base, struct probe_space *space)
{
	struct agent_engine *engine = engine_of(base);
	struct agent_space *own = find_space(engine, space);
	struct agent_point *point;

	if (!own)
		return;
	if (own->agent.state != AGENT_INSIDE) {
		if (agent_is_on_the_way(&own->agent))
			agent_note_what_stays(own);
		agent_leave(&own->agent);
		return;
	}
	for (point = own->points; point; point = point->next)
		agent_note_caught(point);
	leave_walkers(own);
	patch_remove_all(space->space); /* with one wait for all of them */
	for (point = own->points; point; point = point->next)
		unpatch_point(point);
	agent_leave(&own->agent);
	read_rest(own);
	for (point = own->points; point; point = point->next)
		settle(point);
	note_last_missed(own);
	note_last(own);
	agent_note_what_stays(own);
	shared_empty(&own->agent.shared);
	shared_close(&own->agent.shared);
}

static void free_space(struct agent_space *space)
{
	unsigned i;

	if (space->agent.shared.memory) {
		shared_give_up(&space->agent.shared);
		note_last(space);
	}
	agent_entries_forget(space->engine, space);
	agent_fini(&space->agent);
	agent_lists_free(space);
	for (i = 0; i < SHARED_BLOCKS; i++)
		free(space->walks[i]);
	free(space);
}

static void end(struct engine *base, struct probe_space *space)
{
	struct agent_space **link = &engine_of(base)->spaces;

	while (*link && (*link)->space != space)
		link = &(*link)->next;
	if (*link) {
		struct agent_space *own = *link;

		*link = own->next;
		agent_unguard(&own->agent);
		agent_traps_are_gone(&own->agent);
		free_space(own);
	}
}

static struct return_watch *watch_return(struct engine *base,
					 struct probe_space *space UNUSED,
					 const struct call *call UNUSED)
{
	struct agent_engine *engine = engine_of(base);

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
	const struct agent_engine *engine = engine_of(base);
	const struct agent_space *own = find_space(engine, moment->space);

	return own && agent_passes_over(own, moment) ? engine->group : 0;
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
	.leave = leave,
	.end = end,
	.forked = forked,
	.catch_up = catch_up,
	.passed_over = passed_over,
};

/* ---- tasks ---- */

static bool is_last(const struct task *task)
{
	return task->tracee->tasks == task && !task->next;
}

/* Another one may get its place, and its number in our books. */
static void task_end(struct event_source *source, struct task *task)
{
	struct agent_engine *engine = engine_of_source(source);
	struct agent_space *space;

	if (!task->tracee || !engine->spaces)
		return;
	(void)tell(engine);
	space = find_space(engine, probe_space_of(task->tracee->space));
	if (space)
		agent_task_ended(&space->agent, task->tid);
	agent_entries_forget_task(engine, task->tid);
	if (!space || !space->agent.shared.memory)
		return;
	shared_thread_ended(&space->agent.shared, task->tid);
	if (is_last(task))
		note_last_missed(space);
}

/* Those that share its memory until they run a program of theirs go on. */
static void on_exec(struct event_source *source, struct task *task)
{
	struct agent_engine *engine = engine_of_source(source);
	struct agent_space *space;

	if (!task->tracee || !engine->spaces)
		return;
	space = find_space(engine, probe_space_of(task->tracee->space));
	if (!space || space->pid != task->tracee->pid ||
	    !space->agent.shared.memory)
		return;
	(void)tell(engine);
	/* Who has left a hook by that, or was killed in one, writes no more. */
	shared_give_up(&space->agent.shared);
	note_last_missed(space);
}

static bool on_signal(struct event_source *source, struct task *task,
		      int signal)
{
	struct agent_engine *engine = engine_of_source(source);
	struct agent_space *space;

	if ((signal != SIGSEGV && signal != SIGBUS) || !task->tracee)
		return false;
	space = find_space(engine, probe_space_of(task->tracee->space));
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

static const struct event_source_ops source_ops = {
	.signal = on_signal,
	.task_end = task_end,
	.exec = on_exec,
	.drain = drain,
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
	engine->replaces = config->watches || config->replaces;
	engine->mode = mode_of(config);
	if (config->waits && engine->mode & AGENT_WITH_RINGS)
		engine->mode |= AGENT_WAITS;
	ticks_begin(&engine->ticks);
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

uint64_t agent_engine_addresses(const struct agent_engine *engine, pid_t pid)
{
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->pid == pid && (space->agent.state == AGENT_INSIDE ||
					  space->agent.state == AGENT_LEFT))
			return agent_addresses();
	return 0;
}

void agent_engine_live(struct agent_engine *engine)
{
	struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		agent_live(&space->agent);
}
