/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

/* Nobody else is told of the task at this trap, and it has just come to it. */
static bool is_sole_owner(const struct trap_owner *owner,
			  const struct task *task)
{
	const struct space *space = task->tracee->space;
	const struct trap *trap = trap_find(task->tracee->space, task->place);

	return trap && trap->owners == owner && !owner->next &&
	       !space->tracer->leaving && space->linkmap.complete;
}

/* … and somebody is to hear of it. */
static bool is_alone(const struct trap_owner *owner, const struct task *task)
{
	return !task->tracee->muted && is_sole_owner(owner, task);
}

static bool may_take(const struct agent_point *own, const struct task *task)
{
	return own->space->agent.state <= AGENT_CLOSING &&
	       is_alone(&own->owner, task);
}

/* Of the libraries that a program begins with, all in all. */
#define TLS_MOST (64 << 10)

void agent_find_errno(struct agent *agent, const struct moment *moment)
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

void agent_note_way(struct agent_space *space)
{
	struct agent_engine *engine = space->engine;

	note_refusal(space);
	if (space->agent.state != AGENT_INSIDE)
		return;
	ticks_gauge(&engine->ticks);
	engine->report.reason = NULL;
	agent_look_soon(engine); /* the rest, at leisure */
}

/* Returns whether the task has gone to do something for us. */
static bool take(struct agent_point *own, struct task *task)
{
	struct agent_space *space = own->space;

	if (space->agent.state == AGENT_INSIDE &&
	    is_sole_owner(&own->owner, task) &&
	    ((!task->tracee->muted && agent_fetch_page(&space->agent, task)) ||
	     agent_mend_net(&space->agent, task)))
		return true;
	if (!may_take(own, task)) {
		note_refusal(space);
		return false;
	}
	space->pid = task->tracee->pid;
	if (agent_take(&space->agent, task))
		return true;
	agent_note_way(space);
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
			agent_look_soon(own->space->engine);
		own->called = true;
		return;
	}
	own->hits++;
	if (own->hits & (own->hits - 1))
		return;
	own->space->looked = 0;
	agent_look_soon(own->space->engine);
}

static void tell_walk(struct agent_point *own, struct task *task)
{
	struct moment moment = moment_of_stop(task);

	engines_catch_up(moment.space->prober, moment.time, moment.tid);
	own->point->ops->reached(own->point, &moment);
	agent_ends_go_by_traps(own->space, task->tid,
			       moment.arch->sp(moment.regs));
}

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
		agent_catch_point(own);
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
	agent_looks_learn(own, task);
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

	if (task->tracee->space->tracer->gathering || take(own, task))
		return;
	if (point->walks) {
		on_walk(own, task);
		return;
	}
	moment = moment_of_stop(task);
	moment.chosen = agent_chosen_at(own->space, &moment);
	if (!agent_tally_hit(own, &moment))
		note_hit(own);
	agent_find_errno(&own->space->agent, &moment);
	if (passes_untold(own, task))
		return;
	if (is_alone(owner, task) && agent_watch_sends_back(own, task, &moment))
		return;
	tell_reached(own, task, &moment);
	if (agent_is_site(own))
		agent_site_told(own, task);
	else if (agent_is_jump(own))
		agent_jump_told(own, task);
}

const struct trap_owner_ops agent_owner_ops = { .hit = on_hit };

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
	(void)agent_tally_hit(own, &moment);
	if (!is_alone(owner, task) ||
	    !agent_watch_sends_back(own, task, &moment))
		tell_reached(own, task, &moment);
}

const struct trap_owner_ops agent_door_ops = { .hit = on_door };
