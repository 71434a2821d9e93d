/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/call_acts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "heap/operand.h"

/* Operands that are still to be read. */
enum {
	NEED_HANDLE = 1,
	NEED_OLD = 2,
	NEED_SIZE = 4,
	NEED_OLD_SIZE = 8,
	NEED_ALL = 15,
};

/* What a running call will do to one family. */
struct pending_act {
	struct heap_act act;
	struct heap_outcome outcome;
	uint64_t token; /* the observer's */
	unsigned needs;
};

#define ACTS_MAX 4

/* A running call. */
struct pending {
	uint64_t call;
	unsigned count;
	struct pending_act acts[ACTS_MAX];
	UT_hash_handle hh; /* by call */
};

static struct call_values values_of(const struct event *event)
{
	const struct call *call = event->call;

	return (struct call_values){
		.arch = call->arch,
		.entry_regs = &call->entry,
		.result_regs = event->kind == EVENT_RETURN ? event->regs : NULL,
		.memory = call->memory,
	};
}

/* Who has called, as far as the stack tells. */
struct caller {
	const char *library;
	bool is_own; /* the library that defines the function itself */
};

static struct caller caller_of(const struct call_acts *acts,
			       const struct call *call)
{
	const char *definer = call->function->library, *soname;
	struct frame frame;

	if (!stacks_frames(acts->stacks, call->stack, &frame, 1))
		return (struct caller){ 0 };
	soname = frame.code->image ? image_soname(frame.code->image) : NULL;
	return (struct caller){
		.library = frame.code->path,
		.is_own = definer && soname && !strcmp(definer, soname),
	};
}

static struct observed_act observed(const struct watched *process,
				    const struct pending_act *pending,
				    uint64_t entered)
{
	return (struct observed_act){
		.process = process,
		.act = &pending->act,
		.outcome = pending->outcome,
		.entered = entered,
		.token = pending->token,
	};
}

static void tell_taken(const struct call_acts *acts,
		       const struct watched *process,
		       struct pending_act *pending)
{
	struct act_observer *observer = acts->observer;
	enum family_act act = pending->act.function->act;
	struct observed_act told =
		observed(process, pending, pending->act.begin);

	if (observer && (act == FAMILY_RELEASE || act == FAMILY_RESIZE))
		pending->token = observer->ops->taken(observer, &told);
}

static bool is_unkept_acquisition(const struct heap_act *act)
{
	return act->unkept && (act->function->act == FAMILY_ACQUIRE ||
			       act->function->act == FAMILY_REPLACE);
}

static void tell_ended(const struct call_acts *acts,
		       const struct watched *process,
		       const struct pending_act *pending, uint64_t entered)
{
	struct observed_act told = observed(process, pending, entered);

	if (acts->observer && !is_unkept_acquisition(&pending->act))
		acts->observer->ops->ended(acts->observer, &told);
}

/* Both factors of a product, for those who tell of the call as it was. */
static void fill_factors(struct heap_act *act, const struct call_values *values)
{
	struct operand factor = act->function->size;

	if (factor.kind != OPERAND_PRODUCT)
		return;
	factor.kind = OPERAND_ARGUMENT;
	if (operand_value(&factor, values, 0, &act->count))
		act->count = 0;
	factor.index = factor.second;
	if (operand_value(&factor, values, 0, &act->item))
		act->item = 0;
}

/* Reads what can be read by now; false when something never will be. */
static bool fill(struct pending_act *pending, const struct call_values *values,
		 unsigned which)
{
	const struct family_function *function = pending->act.function;
	const struct {
		const struct operand *operand;
		unsigned need;
		uint64_t *value;
	} fields[] = {
		{ &function->handle, NEED_HANDLE, &pending->act.handle },
		{ &function->old, NEED_OLD, &pending->act.old },
		{ &function->size, NEED_SIZE, &pending->act.size },
		{ &function->old_size, NEED_OLD_SIZE, &pending->act.old_size },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int err;

		if (!(pending->needs & fields[i].need))
			continue;
		err = operand_value(fields[i].operand, values, which,
				    fields[i].value);
		if (err == -EAGAIN)
			continue;
		if (err && err != -ENOENT)
			return false;
		pending->needs &= ~fields[i].need;
	}
	return true;
}

/*
 * What libc maps for itself (the stacks of threads, which it keeps for later
 * ones) is no business of the program's.
 */
static bool is_wanted(const struct family_function *function,
		      const struct caller *caller)
{
	return !function->family->granularity || !caller->is_own;
}

/* The acts of a call that has begun. */
static void begin_acts(struct call_acts *acts, struct watched *process,
		       const struct event *event, struct pending *ret)
{
	const struct call *call = event->call;
	const struct call_values values = values_of(event);
	const struct family_function *function = call->function->subject;
	const struct caller caller = caller_of(acts, call);

	ret->call = call->id;
	ret->count = 0;
	for (; function && ret->count < ACTS_MAX; function = function->next) {
		struct pending_act *pending = &ret->acts[ret->count];

		if (!is_wanted(function, &caller))
			continue;
		*pending = (struct pending_act){
			.act.function = function,
			.act.call = call->id,
			.act.begin = call->time,
			.act.tid = call->tid,
			.act.stack = call->stack,
			.act.library = caller.library,
			.act.unkept = acts->off,
			.needs = NEED_ALL,
		};
		if (acts->observer)
			fill_factors(&pending->act, &values);
		if (fill(pending, &values, 0))
			ret->count++;
		else
			process->unreadable++;
	}
}

/* Nobody will wait for its return: what it does is done. */
static void act_at_entry(const struct call_acts *acts, struct watched *process,
			 struct pending *pending)
{
	for (unsigned i = 0; i < pending->count; i++) {
		struct pending_act *each = &pending->acts[i];

		each->act.call = 0;
		each->outcome = heap_act(process->heap, &each->act);
		tell_taken(acts, process, each);
		tell_ended(acts, process, each, each->act.begin);
	}
}

static void begin_act(const struct call_acts *acts, struct watched *process,
		      struct pending_act *pending)
{
	pending->outcome = heap_begin(process->heap, &pending->act);
	tell_taken(acts, process, pending);
}

void call_acts_begin(struct call_acts *acts, struct watched *process,
		     const struct event *event)
{
	struct pending begun, *pending;

	process->calls++;
	begin_acts(acts, process, event, &begun);
	if (event->call->function->entry_only) {
		act_at_entry(acts, process, &begun);
		return;
	}
	if (!begun.count)
		return;
	for (unsigned i = 0; i < begun.count; i++)
		begin_act(acts, process, &begun.acts[i]);
	pending = xmalloc(sizeof(*pending));
	*pending = begun;
	HASH_ADD(hh, acts->pending, call, sizeof(pending->call), pending);
}

static struct pending *take(struct call_acts *acts, const struct event *event)
{
	struct pending *pending;

	HASH_FIND(hh, acts->pending, &event->call->id, sizeof(pending->call),
		  pending);
	if (pending)
		HASH_DEL(acts->pending, pending);
	return pending;
}

static void end_act(const struct call_acts *acts, struct watched *process,
		    const struct pending_act *pending,
		    const struct event *event)
{
	const struct call_values values = values_of(event);
	const struct family_function *function = pending->act.function;
	uint64_t result = event->call->arch->result(event->regs);
	bool failed = !family_succeeded(function, result,
					event->call->arch->word_size);
	/* No time at all would mean that it isn't known. */
	uint64_t duration = event_duration(event) + !event_duration(event);
	unsigned handles = failed || !function->handle.count ?
				   1 :
				   function->handle.count;

	for (unsigned which = 0; which < handles; which++) {
		struct pending_act each = *pending;

		each.act.begin = event->time - duration;
		each.act.end = event->time;
		each.act.correction = event_mean_duration(event) -
				      (int64_t)duration;
		each.act.failed = failed;
		each.act.is_further = which > 0;
		if (!each.act.failed && !fill(&each, &values, which)) {
			process->unreadable++;
			each.act.failed = true;
		}
		each.outcome.done = heap_act(process->heap, &each.act).done;
		tell_ended(acts, process, &each, pending->act.begin);
	}
}

void call_acts_end(struct call_acts *acts, struct watched *process,
		   const struct event *event)
{
	struct pending *pending = take(acts, event);

	for (unsigned i = 0; pending && i < pending->count; i++)
		end_act(acts, process, &pending->acts[i], event);
	free(pending);
}

/* An exception that operator new has thrown says that it has failed. */
static void abandon_act(const struct call_acts *acts, struct watched *process,
			struct pending_act *pending, const struct event *event)
{
	struct heap_act *act = &pending->act;
	struct observed_act told;

	act->end = event->time;
	act->failed = true;
	pending->outcome.done = false;
	if (event->end == CALL_EXCEPTION) {
		heap_act(process->heap, act);
		tell_ended(acts, process, pending, act->begin);
		return;
	}
	heap_abandon(process->heap, act);
	told = observed(process, pending, act->begin);
	if (acts->observer)
		acts->observer->ops->abandoned(acts->observer, &told);
}

void call_acts_abandon(struct call_acts *acts, struct watched *process,
		       const struct event *event)
{
	struct pending *pending = take(acts, event);

	if (event->end == CALL_UNSEEN)
		process->unseen++;
	for (unsigned i = 0; pending && i < pending->count; i++)
		abandon_act(acts, process, &pending->acts[i], event);
	free(pending);
}

void call_acts_fini(struct call_acts *acts)
{
	struct pending *pending, *next;

	HASH_ITER(hh, acts->pending, pending, next) {
		HASH_DEL(acts->pending, pending);
		free(pending);
	}
}
