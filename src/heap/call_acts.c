/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/call_acts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "heap/apply.h"
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
struct awaited_act {
	struct applied_act applied;
	unsigned needs;
};

#define ACTS_MAX 4

/* A running call. */
struct pending {
	uint64_t call;
	unsigned count;
	struct awaited_act acts[ACTS_MAX];
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

/* Where it was called, as far as the stack tells; or NULL. */
static const struct code *caller_of(const struct call_acts *acts,
				    const struct call *call)
{
	struct frame frame;

	return stacks_frames(acts->stacks, call->stack, &frame, 1) ?
		       frame.code :
		       NULL;
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
static bool fill(struct awaited_act *pending, const struct call_values *values,
		 unsigned which)
{
	struct heap_act *act = &pending->applied.act;
	const struct family_function *function = act->function;
	const struct {
		const struct operand *operand;
		unsigned need;
		uint64_t *value;
	} fields[] = {
		{ &function->handle, NEED_HANDLE, &act->handle },
		{ &function->old, NEED_OLD, &act->old },
		{ &function->size, NEED_SIZE, &act->size },
		{ &function->old_size, NEED_OLD_SIZE, &act->old_size },
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

/* The library that defines the function has called it. */
static bool is_definer(const struct code *caller,
		       const struct function *function)
{
	const char *definer = function->library, *soname;

	soname = caller && caller->image ? image_soname(caller->image) : NULL;
	return definer && soname && !strcmp(definer, soname);
}

/*
 * What libc maps for itself (the stacks of threads, which it keeps for later
 * ones) is no business of the program's.
 */
static bool is_wanted(const struct family_function *function,
		      const struct call *call, const struct code *caller)
{
	return !function->family->granularity ||
	       !is_definer(caller, call->function);
}

static enum heap_sampling sampling_of(const struct call *call)
{
	switch (call->chosen.choice) {
	case CALL_KEPT:
		return SAMPLING_KEPT;
	case CALL_LEFT:
		return SAMPLING_LEFT;
	case CALL_OPEN:
		break;
	}
	return SAMPLING_OPEN;
}

/* The acts of a call that has begun. */
static void begin_acts(struct call_acts *acts, struct watched *process,
		       const struct event *event, struct pending *ret)
{
	const struct call *call = event->call;
	const struct call_values values = values_of(event);
	const struct family_function *function = call->function->subject;
	const struct code *caller = caller_of(acts, call);

	ret->call = call->id;
	ret->count = 0;
	for (; function && ret->count < ACTS_MAX; function = function->next) {
		struct awaited_act *pending = &ret->acts[ret->count];

		if (!is_wanted(function, call, caller) ||
		    !family_means(function, &values))
			continue;
		*pending = (struct awaited_act){
			.applied.act = {
				.function = function,
				.call = call->id,
				.begin = call->time,
				.tid = call->tid,
				.stack = call->stack,
				.library = caller ? caller->path : NULL,
				.unkept = acts->off,
				.sampling = sampling_of(call),
				.rate = call->chosen.rate,
			},
			.needs = NEED_ALL,
		};
		if (acts->observer)
			fill_factors(&pending->applied.act, &values);
		if (fill(pending, &values, 0))
			ret->count++;
		else
			process->unreadable++;
	}
}

static struct act_target target_of(const struct call_acts *acts,
				   struct watched *process)
{
	return (struct act_target){ process, acts->observer };
}

static void tell_kept(const struct call_acts *acts,
		      const struct watched *process, uint64_t handle,
		      enum watch_keeping keeping)
{
	if (acts->kept)
		acts->kept(acts->context, process->pid, handle, keeping);
}

static uint64_t given_back(const struct heap_act *act)
{
	return act->function->act == FAMILY_RESIZE ? act->old : act->handle;
}

void call_acts_begin(struct call_acts *acts, struct watched *process,
		     const struct event *event)
{
	const struct act_target target = target_of(acts, process);
	const bool at_once = event->call->function->entry_only;
	struct pending begun, *pending;

	process->calls++;
	begin_acts(acts, process, event, &begun);
	for (unsigned i = 0; i < begun.count; i++) {
		struct applied_act *applied = &begun.acts[i].applied;
		bool known;

		if (at_once) {
			if (family_acquires(applied->act.function))
				applied->act.end = event->time;
			known = apply_at_once(&target, &applied->act);
		} else {
			apply_begin(&target, applied);
			known = applied->outcome.known;
		}
		if (known)
			tell_kept(acts, process, given_back(&applied->act),
				  WATCH_GONE);
	}
	if (at_once || !begun.count)
		return;
	pending = acts->spare ? acts->spare : xmalloc(sizeof(*pending));
	acts->spare = NULL;
	pending->call = begun.call;
	pending->count = begun.count;
	memcpy(pending->acts, begun.acts, begun.count * sizeof(*begun.acts));
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

/* Mostly the next one is begun before any other is over. */
static void give_back(struct call_acts *acts, struct pending *pending)
{
	if (acts->spare)
		free(pending);
	else
		acts->spare = pending;
}

/* What the return tells, but for its handles. */
static struct heap_act ended_act(const struct heap_act *begun,
				 const struct event *event)
{
	const struct arch_ops *arch = event->call->arch;
	/* No time at all would mean that it isn't known. */
	uint64_t duration = event_duration(event) + !event_duration(event);
	struct heap_act act = *begun;

	act.untimed = event->call->untimed;
	act.begin = event->time - duration;
	act.end = event->time;
	act.sampling = sampling_of(event->call);
	act.rate = event->call->chosen.rate;
	act.correction = event_mean_duration(event) - (int64_t)duration;
	act.failed = !family_succeeded(act.function, arch->result(event->regs),
				       arch->word_size);
	return act;
}

static void end_act(const struct call_acts *acts, struct watched *process,
		    const struct awaited_act *pending,
		    const struct event *event)
{
	const struct act_target target = target_of(acts, process);
	const struct call_values values = values_of(event);
	const struct heap_act *begun = &pending->applied.act;
	const struct heap_act ended = ended_act(begun, event);
	const unsigned count = begun->function->handle.count;
	const unsigned handles = ended.failed || !count ? 1 : count;

	for (unsigned which = 0; which < handles; which++) {
		struct awaited_act each = *pending;
		struct heap_act *act = &each.applied.act;

		*act = ended;
		act->is_further = which > 0;
		if (!act->failed && !fill(&each, &values, which)) {
			process->unreadable++;
			act->failed = true;
		}
		if (apply_end(&target, &each.applied, begun->begin))
			tell_kept(acts, process, act->handle, WATCH_KEPT);
		else if (act->failed && each.applied.outcome.known)
			tell_kept(acts, process, given_back(act), WATCH_KEPT);
	}
}

void call_acts_end(struct call_acts *acts, struct watched *process,
		   const struct event *event)
{
	struct pending *pending = take(acts, event);

	for (unsigned i = 0; pending && i < pending->count; i++)
		end_act(acts, process, &pending->acts[i], event);
	give_back(acts, pending);
}

/* ---- calls as a whole ---- */

static inline uint64_t number(const struct operand *operand,
			      const struct whole_call *call)
{
	return operand_of(operand, call->arguments, call->result);
}

/* Both factors of a product, as fill_factors() has them. */
static void whole_factors(struct heap_act *act, const struct whole_call *call)
{
	const struct operand *size = &act->function->size;
	struct operand factor = *size;

	if (size->kind != OPERAND_PRODUCT)
		return;
	factor.kind = OPERAND_ARGUMENT;
	act->count = number(&factor, call);
	factor.index = factor.second;
	act->item = number(&factor, call);
}

/* The same stacks come again and again. */
static const char *library_of(struct call_acts *acts, stack_id stack)
{
	struct known_caller *known = &acts->callers[stack % CALL_ACTS_CALLERS];
	struct frame frame;

	if (known->stack == stack && stack != STACK_NONE)
		return known->library;
	known->stack = stack;
	known->library = stacks_frames(acts->stacks, stack, &frame, 1) &&
					 frame.code ?
				 frame.code->path :
				 NULL;
	return known->library;
}

void call_acts_expect(const struct watched *process,
		      const struct family_function *function,
		      const uint64_t arguments[WHOLE_ARGUMENTS])
{
	const struct operand *handle = &function->handle;

	if (function->act == FAMILY_RELEASE && !function->family->granularity &&
	    handle->kind == OPERAND_ARGUMENT)
		heap_expect(process->heap, function->family,
			    operand_number(handle, arguments, 0));
}

/* As it begins. Member by member: there is one for each call. */
static void begin_whole(struct call_acts *acts, const struct whole_call *call,
			struct heap_act *ret)
{
	const struct family_function *function = call->function->subject;

	ret->function = function;
	ret->call = call->id;
	ret->begin = call->time;
	ret->end = 0;
	ret->correction = 0;
	ret->untimed = call->untimed;
	ret->tid = call->tid;
	ret->stack = call->stack;
	ret->handle = function->handle.kind != OPERAND_RESULT ?
			      number(&function->handle, call) :
			      0;
	ret->old = number(&function->old, call);
	ret->size = number(&function->size, call);
	ret->count = ret->item = 0;
	ret->old_size = number(&function->old_size, call);
	ret->failed = false;
	ret->unkept = acts->off;
	ret->is_further = false;
	ret->sampling = SAMPLING_OPEN;
	ret->rate = 0;
	ret->site = 0;
	ret->use = NULL;
	ret->library = library_of(acts, call->stack);
}

/* As of ended_act(). */
static void end_whole(const struct whole_call *call, struct heap_act *act)
{
	const uint64_t took = call->end > call->time ? call->end - call->time :
						       0;

	act->begin = call->end - took - !took;
	act->end = call->end;
	act->correction = -(int64_t)!took;
	act->failed = !family_succeeded(act->function, call->result,
					sizeof(call->result));
	if (!act->failed)
		act->handle = number(&act->function->handle, call);
}

static void tell_whole(const struct act_target *target,
		       const struct whole_call *call, struct heap_act *act)
{
	struct applied_act applied = { .act = *act };

	whole_factors(&applied.act, call);
	if (call->function->entry_only) {
		(void)apply_at_once(target, &applied.act);
		return;
	}
	apply_begin(target, &applied);
	end_whole(call, &applied.act);
	(void)apply_end(target, &applied, call->time);
}

/* Nobody else wants to know of it; and nothing happens while it runs. */
static void apply_whole(struct heap *heap, const struct whole_call *call,
			struct heap_act *act)
{
	const char *library = act->library;

	act->call = 0;
	if (call->function->whole != WHOLE_AT_ENTRY)
		end_whole(call, act);
	(void)heap_take_act(heap, act);
	if (call->function->whole != WHOLE_AT_ENTRY || !call->end)
		return;
	act->library = library;
	end_whole(call, act);
	heap_act_timed(heap, act);
}

void call_acts_whole(struct call_acts *acts, struct watched *process,
		     const struct whole_call *call)
{
	const struct act_target target = target_of(acts, process);
	struct heap_act act;

	process->calls++;
	if (!acts->observer && !acts->off &&
	    heap_take_plain(process->heap, call))
		return;
	begin_whole(acts, call, &act);
	if (acts->observer)
		tell_whole(&target, call, &act);
	else
		apply_whole(process->heap, call, &act);
}

void call_acts_abandon(struct call_acts *acts, struct watched *process,
		       const struct event *event)
{
	const struct act_target target = target_of(acts, process);
	struct pending *pending = take(acts, event);

	if (event->end == CALL_UNSEEN)
		process->unseen++;
	/* Of operator new an exception says that it has failed. */
	for (unsigned i = 0; pending && i < pending->count; i++) {
		const struct applied_act *applied = &pending->acts[i].applied;

		if (apply_abandon(&target, applied, event->time,
				  event->end == CALL_EXCEPTION))
			tell_kept(acts, process, given_back(&applied->act),
				  WATCH_KEPT_AGAIN);
	}
	give_back(acts, pending);
}

void call_acts_fini(struct call_acts *acts)
{
	struct pending *pending, *next;

	HASH_ITER(hh, acts->pending, pending, next) {
		HASH_DEL(acts->pending, pending);
		free(pending);
	}
	free(acts->spare);
}
