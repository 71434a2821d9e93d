/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/callable.h"
#include "agent/capture.h"
#include "agent/patches.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "prototype/plain.h"
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

/* ---- what is caught ---- */

static unsigned failure_of(const struct plain_prototype *plain)
{
	const unsigned wide = plain->wide ? AGENT_WIDE : 0;

	switch (plain->failure) {
	case FAILURE_ERRNO:
		return wide | (plain->pointer ? AGENT_FAILS_POINTER :
						AGENT_FAILS_MINUS_ONE);
	case FAILURE_ERRNUM:
	case FAILURE_NONZERO:
		return wide | AGENT_FAILS_NONZERO;
	case FAILURE_ZERO:
		return wide | AGENT_FAILS_ZERO;
	case FAILURE_NEGATIVE:
		return wide | AGENT_FAILS_NEGATIVE;
	case FAILURE_KERNEL:
	case FAILURE_UNKNOWN:
		break;
	}
	return AGENT_FAILS_NEVER;
}

/* What a record doesn't hold can't be shown. */
static bool can_be_recorded(const struct agent_engine *engine,
			    const struct function *function)
{
	uint8_t captures[AGENT_CAPTURES];
	unsigned texts = 0;

	if (engine->string_bytes < AGENT_CAPTURE_MOST)
		texts = capture_plan(function->name, captures);
	return prototype_is_plain(function->prototype, texts);
}

/* Whose acts are numbers, and that do nothing else. */
static bool can_be_watched(const struct agent_engine *engine,
			   const struct function *function)
{
	return function->group && function->subject && !function->within_too &&
	       !function->apart && watchable_by_agent(function->name) &&
	       (function->sampled.act || !(engine->mode & AGENT_SAMPLES));
}

/* Stacks that can't be walked over are looked at by a trap at the function. */
static const char *why_no_site(const struct agent_engine *engine,
			       const struct point *point)
{
	if (!point->slot && !point->shared_slot)
		return "no slot for calls alone";
	return engine->mode & AGENT_WITH_ROWS ? "-w of one library's calls" :
						NULL;
}

/* What is to be caught is no function, or not all of it. */
static const char *why_no_function(const struct agent_engine *engine,
				   const struct point *point)
{
	const struct function *function = point->function;
	const bool watches = engine->mode & AGENT_WATCHES;

	if (!function ||
	    (function->place != FUNCTION_ENTRY &&
	     function->place != FUNCTION_CALL_SITE) ||
	    (function->entry_only && !watches))
		return "no whole function";
	if (point->caller)
		return "calls of one library, not by a slot of its own";
	if (function->place == FUNCTION_CALL_SITE)
		return why_no_site(engine, point);
	return function->group && !watches ? "heap" : NULL;
}

static bool is_callable(const struct point *point)
{
	const struct function *function = point->function;
	const struct module *module =
		module_find(point->space->space, point->address);
	const bool linked_in = module && function_is_linked_in(module);

	return callable_by_agent(function->name, linked_in ?
							 CALLABLE_LINKED_IN :
							 function->library);
}

/* Who walks over stacks is to find there what he would without us. */
static const char *why_no_walk(const struct agent_engine *engine,
			       const struct point *point)
{
	if (point->space->space->arch != &arch_x86_64)
		return "32 bits";
	return engine->replaces ? NULL : "nothing is replaced";
}

/* Why it isn't caught in the process; NULL: it may be. */
static const char *why_not(const struct agent_engine *engine,
			   const struct point *point)
{
	const struct function *function = point->function;
	const struct probe_space *space = point->space;
	const char *reason = why_no_function(engine, point);
	struct plain_prototype plain;

	if (point->walks)
		return why_no_walk(engine, point);
	if (reason)
		return reason;
	if (space->is_go)
		return "Go";
	if (space->space->arch != &arch_x86_64)
		return "32 bits";
	if (engine->mode & AGENT_WATCHES)
		return can_be_watched(engine, function) ? NULL :
							  "of other kinds";
	if (!prototype_plain_result(function->prototype, &plain))
		return "result is no number";
	if (!is_callable(point))
		return agent_why_not_replaceable(engine, point);
	if (plain.arguments > AGENT_ARGUMENTS)
		return "too many arguments";
	return engine->mode & AGENT_RECORDS &&
			       !can_be_recorded(engine, function) ?
		       "arguments that lie in memory" :
		       NULL;
}

static void note_trap(struct agent_engine *engine, const char *reason)
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

	own->point->ops->reached(own->point, &moment);
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
	if (agent_is_site(own) && agent_site_pass(own, task))
		return;
	if (own->space->engine->mode & AGENT_WITH_ROWS)
		agent_watch_reached(own, task, &moment);
	else
		point->ops->reached(point, &moment);
	if (agent_is_site(own))
		agent_site_told(own, task);
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
	agent_watch_reached(own, task, &moment);
}

static const struct trap_owner_ops door_ops = { .hit = on_door };

/* ---- catching ---- */

static int plant(struct engine *base, struct point *point)
{
	struct agent_engine *engine = engine_of(base);
	const char *reason = why_not(engine, point);
	struct agent_point *own;
	int err;

	if (reason) {
		if (point->function)
			note_trap(engine, reason);
		return -ENOTSUP;
	}
	own = xcalloc(1, sizeof(*own));
	if (engine->mode & AGENT_SAMPLES && point->function)
		engine->group = point->function->group;
	own->owner.ops = &owner_ops;
	own->door.ops = &door_ops;
	own->point = point;
	own->stub = -1;
	own->replaced = point->function && engine->mode & AGENT_COUNTS &&
			!is_callable(point);
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

	for (other = own->space->points; other; other = other->next)
		if (other != own &&
		    other->point->address == own->point->address)
			return true;
	return false;
}

static unsigned failure_when_watched(const struct function *function)
{
	if (replaced_by_agent(function->name))
		return AGENT_REPLACES;
	if (function->entry_only)
		return AGENT_ENTRY_ONLY;
	return !strcmp(function->name, "posix_memalign") ? AGENT_STORES : 0;
}

static enum stub_way way_when_watched(const struct agent_engine *engine,
				      const struct function *function)
{
	if (!(engine->mode & AGENT_SAMPLES))
		return STUB_WATCHES;
	return function->sampled.act == SAMPLED_RELEASE ? STUB_RELEASES :
							  STUB_SAMPLES;
}

int agent_point_config(const struct agent_point *own, taddr_t address,
		       const struct insn *insn, struct stub_config *ret)
{
	const struct function *function = own->point->function;
	struct plain_prototype plain;

	*ret = (struct stub_config){
		.function = address,
		.insn = insn,
	};
	if (own->point->walks) {
		ret->failure = AGENT_WALKS;
		ret->way = STUB_WALKS;
		return 0;
	}
	if (own->space->engine->mode & AGENT_WATCHES) {
		ret->arguments = AGENT_WATCHED_ARGUMENTS;
		ret->failure = failure_when_watched(function) |
			       agent_sampled_act(function);
		ret->way = way_when_watched(own->space->engine, function);
		return 0;
	}
	if (!prototype_plain_result(function->prototype, &plain))
		return -EINVAL;
	ret->arguments = own->replaced ? 0 : plain.arguments;
	ret->failure = failure_of(&plain) |
		       (own->replaced ? AGENT_REPLACES : 0);
	if (own->space->agent.mode & AGENT_STACKS)
		ret->way = STUB_WATCHES;
	if (own->space->agent.mode & AGENT_RECORDS)
		(void)capture_plan(function->name, ret->captures);
	return 0;
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
	if (has_other(own) || (stub_alone && !target) ||
	    agent_point_config(own, own->point->address, &trap->insn, &config))
		return;
	config.leads_to = target;
	if (config.failure & AGENT_REPLACES && !agent_may_replace(own)) {
		own->given_up = own->reason;
		return;
	}
	stub = function && !stub_alone ?
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
}

/* Whoever calls through a slot that leads to the function itself hits its trap:
   where nobody has, there is none. */
static bool may_have_slots(const struct agent_point *own)
{
	return own->stub >= 0 && own->hits != own->hits_looked &&
	       !agent_is_site(own) && !agent_is_stub(own) && !own->point->walks;
}

/* Calls through slots that came to be since. */
static void look_again(struct agent_space *space, uint64_t now)
{
	struct agent_point *own;

	space->looked = now;
	patch_look(space->space->space);
	for (own = space->points; own; own = own->next) {
		if (!may_have_slots(own))
			continue;
		own->hits_looked = own->hits;
		(void)agent_find_slots(&space->agent,
				       own->point->function->name,
				       (unsigned)own->stub);
	}
}

/* So often it was called directly, or by pointer, since there is a stub. */
#define MANY_HITS 64

/* Where nobody wants to be told of anything there is no trap to stop at. */
static struct trap_owner *door_of(struct agent_point *own)
{
	const bool told = own->point->walks ?
				  !own->point->unheard :
				  own->space->engine->mode & AGENT_WITH_ROWS;

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
			!agent_is_site(own) &&
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
		else if (own->stub < 0 && !own->given_up)
			catch_point(own);
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

/* What happened by then. Returns how much that was. */
static size_t tell(struct agent_engine *engine, uint64_t until)
{
	return engine->mode & AGENT_WATCHES ?
		       agent_watch_tell(engine, until, 0) :
		       agent_records_tell(engine, until);
}

static void note_missed(struct agent_space *space, bool blind, uint64_t now)
{
	const struct agent_engine *engine = space->engine;
	uint64_t lost;

	if (!(engine->mode & AGENT_WATCHES) || !space->agent.shared.memory)
		return;
	lost = shared_lost(&space->agent.shared);
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
		else if (agent_is_site(own))
			agent_site_retire(own);
		else
			unpatch_point(own);
	agent_retire(&space->agent);
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
	if (tell(engine, ticks_now()) >= MANY_RECORDS)
		source->due = clock_now();
	else
		source->due = now + pause;
}

/* The clock isn't read once more: we may lose the processor in between. */
static void catch_up(struct engine *base, uint64_t time, pid_t tid)
{
	struct agent_engine *engine = engine_of(base);
	const uint64_t until = ticks_at(&engine->ticks, time);

	if (engine->mode & AGENT_WATCHES)
		(void)agent_watch_tell(engine, until, tid);
	else
		(void)agent_records_tell(engine, until);
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
	if (reason && engine_of(base)->mode & AGENT_COUNTS) {
		own->agent.reason = reason;
		retire(own);
	}
	for (; module; module = module->next)
		(void)image_imports(module->image, &count);
}

/* ---- the end ---- */

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

static void note_caught(struct agent_point *own)
{
	struct agent_space *space = own->space;

	if (own->noted || own->point->walks)
		return;
	own->noted = true;
	if (own->stub >= 0 &&
	    (own->patched ||
	     agent_has_slots(&space->agent, (unsigned)own->stub)))
		space->engine->report.functions++;
	else
		note_trap(space->engine, why_by_trap(own));
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
static void note_cost(struct agent_space *space)
{
	const struct shared_cost cost = shared_cost(&space->agent.shared);

	add_cost(&space->engine->cost, &cost);
}

/* What is told of it before it goes. */
static void settle(struct agent_point *own)
{
	note_caught(own);
	(void)tell(own->space->engine, UINT64_MAX);
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

	(void)tell(space->engine, UINT64_MAX);
	for (i = 0; i < LAST_READS && !shared_is_complete(&space->agent.shared);
	     i++) {
		nanosleep(&moment, NULL);
		(void)tell(space->engine, UINT64_MAX);
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
	report->lost += shared_lost(&space->agent.shared);
	report->unmarked += agent_unmarked(space);
	note_cost(space);
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

static void note_what_stays(const struct agent_space *own)
{
	struct agent_engine_report *report = &own->engine->report;

	report->code += agent_code_bytes(&own->agent);
	report->addresses += agent_addresses();
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
			note_what_stays(own);
		agent_leave(&own->agent);
		return;
	}
	for (point = own->points; point; point = point->next)
		note_caught(point);
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
	note_what_stays(own);
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
		free_space(own);
	}
}

static struct return_watch *watch_return(struct engine *base,
					 struct probe_space *space UNUSED,
					 const struct call *call UNUSED)
{
	struct agent_engine *engine = engine_of(base);

	return engine->mode & AGENT_WATCHES ? &engine->watch : NULL;
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
	(void)tell(engine, ticks_now());
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
	if (!space || space->pid != task->tracee->pid)
		return;
	(void)tell(engine, ticks_now());
	note_last_missed(space);
}

static bool on_signal(struct event_source *source, struct task *task,
		      int signal)
{
	struct agent_engine *engine = engine_of_source(source);
	struct agent_space *space;

	if (signal != SIGSEGV || !task->tracee || !any_inside(engine))
		return false;
	space = find_space(engine, probe_space_of(task->tracee->space));
	if (!space || !agent_fault(&space->agent, task))
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
	engine->depth = config->depth;
	engine->least_hits = config->least_hits;
	engine->sample = config->sample;
	engine->rate = config->rate;
	engine->held = config->held;
	engine->missed = config->missed;
	engine->context = config->context;
	engine->holds = config->holds;
	engine->replaces = config->watches ||
			   (config->counts && config->replaces);
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
	free(engine->watched.calls);
	free(engine->watched.spare);
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

uint64_t agent_engine_addresses(const struct agent_engine *engine, pid_t pid)
{
	const struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->pid == pid && (space->agent.state == AGENT_INSIDE ||
					  space->agent.state == AGENT_LEFT))
			return agent_addresses();
	return 0;
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

void agent_engine_live(struct agent_engine *engine)
{
	struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		agent_live(&space->agent);
}
