/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/apply.h"

static struct observed_act observed(const struct act_target *target,
				    const struct applied_act *applied,
				    uint64_t entered)
{
	return (struct observed_act){
		.process = target->process,
		.act = &applied->act,
		.outcome = applied->outcome,
		.entered = entered,
		.token = applied->token,
	};
}

static void tell_taken(const struct act_target *target,
		       struct applied_act *applied)
{
	struct act_observer *observer = target->observer;
	enum family_act act = applied->act.function->act;
	struct observed_act told;

	if (!observer || (act != FAMILY_RELEASE && act != FAMILY_RESIZE))
		return;
	told = observed(target, applied, applied->act.begin);
	applied->token = observer->ops->taken(observer, &told);
}

static void tell_ended(const struct act_target *target,
		       const struct applied_act *applied, bool done,
		       uint64_t entered)
{
	struct observed_act told;

	if (!target->observer)
		return;
	told = observed(target, applied, entered);
	told.outcome.done = done;
	target->observer->ops->ended(target->observer, &told);
}

void apply_begin(const struct act_target *target, struct applied_act *applied)
{
	applied->outcome = heap_begin(target->process->heap, &applied->act);
	tell_taken(target, applied);
}

bool apply_end(const struct act_target *target,
	       const struct applied_act *applied, uint64_t entered)
{
	const struct heap_outcome outcome =
		heap_act(target->process->heap, &applied->act);

	tell_ended(target, applied, outcome.done, entered);
	return outcome.kept;
}

bool apply_at_once(const struct act_target *target, const struct heap_act *act)
{
	struct applied_act applied = { .act = *act };

	applied.act.call = 0;
	applied.outcome = heap_act(target->process->heap, &applied.act);
	tell_taken(target, &applied);
	tell_ended(target, &applied, applied.outcome.done, act->begin);
	return applied.outcome.known;
}

bool apply_abandon(const struct act_target *target,
		   const struct applied_act *applied, uint64_t time,
		   bool thrown)
{
	struct applied_act ended = *applied;
	struct observed_act told;
	struct heap_outcome outcome;
	bool held;

	ended.act.end = time;
	ended.act.failed = true;
	ended.outcome.done = false;
	if (thrown) {
		outcome = heap_act(target->process->heap, &ended.act);
		tell_ended(target, &ended, false, ended.act.begin);
		return outcome.known && !outcome.done;
	}
	held = heap_abandon(target->process->heap, &ended.act);
	told = observed(target, &ended, ended.act.begin);
	if (target->observer)
		target->observer->ops->abandoned(target->observer, &told);
	return held;
}
