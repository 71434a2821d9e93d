/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

/*
 * Calls of which some are chosen in the process, by the bytes that they ask for.
 * All that is held of what was chosen is marked there, so that its release is
 * told: by the agent, of what it has chosen itself; by us, of the rest.
 */

static enum agent_act act_of(const struct function *function)
{
	switch (function->sampled.act) {
	case SAMPLED_ACQUIRE:
		return AGENT_ACQUIRES;
	case SAMPLED_RELEASE:
		return AGENT_RELEASES;
	case SAMPLED_RESIZE:
		return AGENT_RESIZES;
	case SAMPLED_NOT:
		break;
	}
	return AGENT_NO_ACT;
}

unsigned agent_sampled_act(const struct function *function)
{
	_Static_assert(SAMPLED_NO_ARGUMENT == AGENT_NO_ARGUMENT, "passed on");
	_Static_assert(AGENT_ENGINE_RATES == AGENT_RATES, "passed on");
	_Static_assert(AGENT_ENGINE_MARKS < AGENT_MARKS * AGENT_MARK_LINES,
		       "they have room");
	return agent_act(act_of(function), function->sampled.size,
			 function->sampled.factor);
}

static void mark(void *context, uint64_t handle)
{
	struct agent_space *space = context;

	if (handle && !shared_mark(&space->agent.shared, handle))
		space->unmarked++;
}

bool agent_samples_begin(struct agent_space *space)
{
	const struct agent_engine *engine = space->engine;

	if (space->marks || !(engine->mode & AGENT_SAMPLES))
		return true;
	if (shared_begin_marks(&space->agent.shared))
		return false;
	space->marks = true;
	engine->held(engine->context, space->pid, mark, space);
	return true;
}

static bool is_asked(const struct agent_space *space)
{
	return space->marks && space->agent.state == AGENT_INSIDE;
}

static struct agent_space *find_asked(const struct agent_engine *engine,
				      pid_t pid)
{
	struct agent_space *space;

	for (space = engine->spaces; space; space = space->next)
		if (space->pid == pid && is_asked(space))
			return space;
	return NULL;
}

void agent_engine_kept(struct agent_engine *engine, pid_t pid, uint64_t handle,
		       bool gone)
{
	struct agent_space *space = find_asked(engine, pid);

	/* It has marked that, and another block may be there by now. */
	if (engine->telling || !space)
		return;
	if (gone)
		shared_unmark(&space->agent.shared, handle);
	else
		mark(space, handle);
}

void agent_engine_kept_again(struct agent_engine *engine, pid_t pid,
			     uint64_t handle)
{
	struct agent_space *space = find_asked(engine, pid);

	if (space)
		mark(space, handle);
}

static enum call_choice call_choice(enum agent_choice choice)
{
	switch (choice) {
	case AGENT_CHOICE_KEPT:
		return CALL_KEPT;
	case AGENT_CHOICE_LEFT:
		return CALL_LEFT;
	case AGENT_CHOICE_OPEN:
		break;
	}
	return CALL_OPEN;
}

struct call_chosen agent_call_chosen(enum agent_choice choice, unsigned rate)
{
	return (struct call_chosen){
		.choice = call_choice(choice),
		.rate = rate,
	};
}

struct call_chosen agent_chosen_at(struct agent_space *space,
				   const struct moment *moment)
{
	const taddr_t slot = moment->arch->return_slot(moment->regs);
	const pid_t tid = space->agent.tid_offset ? moment->tid : 0;
	enum agent_choice choice;
	unsigned rate;

	if (!is_asked(space) && !agent_tallies_some(space))
		return (struct call_chosen){ 0 };
	choice = shared_take_choice(&space->agent.shared,
				    moment->regs->user.fs_base, tid, slot,
				    &rate);
	space->engine->chosen_stops += choice != AGENT_CHOICE_OPEN;
	return agent_call_chosen(choice, rate);
}

uint64_t agent_engine_chosen_stops(const struct agent_engine *engine)
{
	return engine->chosen_stops;
}

void agent_engine_set_rate(struct agent_engine *engine, unsigned rate)
{
	struct agent_space *space;

	engine->rate = rate;
	for (space = engine->spaces; space; space = space->next)
		agent_set_rate(&space->agent, rate);
}

bool agent_passes_over(const struct agent_space *space,
		       const struct moment *moment)
{
	return is_asked(space) &&
	       shared_is_within(&space->agent.shared,
				moment->regs->user.fs_base, moment->tid,
				moment->arch->return_slot(moment->regs));
}

uint64_t agent_unmarked(const struct agent_space *space)
{
	return space->marks ?
		       space->unmarked + shared_unmarked(&space->agent.shared) :
		       0;
}
