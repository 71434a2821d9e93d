/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/operand.h"
#include "heap/private.h"
#include "probe/event.h"

/*
 * Nearly all calls of most programs: a block of memory is acquired by a function
 * that returns it, or given back by one that can't fail, at a stack that was seen
 * before. Here they come to what they come to by act.c, handles.c and blame.c, in
 * one go; what turns out to be something else is left to these, from there on.
 */

static bool is_pointer(const struct operand *operand, enum operand_kind kind)
{
	return operand->kind == kind && !operand->width;
}

static bool acquires_plainly(const struct family_function *function)
{
	const struct family_success *success = &function->success;
	const enum operand_kind size = function->size.kind;

	return function->act == FAMILY_ACQUIRE &&
	       is_pointer(&function->handle, OPERAND_RESULT) &&
	       (size == OPERAND_ARGUMENT || size == OPERAND_PRODUCT) &&
	       success->compare == COMPARE_NOT_EQUAL && !success->width &&
	       !success->number;
}

static bool releases_plainly(const struct family_function *function)
{
	return family_always_releases(function) &&
	       is_pointer(&function->handle, OPERAND_ARGUMENT) &&
	       function->size.kind == OPERAND_NONE;
}

bool heap_is_plain(const struct heap *heap,
		   const struct family_function *function)
{
	const struct family *family = function->family;

	return family->has_size && family->null_is_nothing && !family->shared &&
	       !family->granularity && !heap->options.component &&
	       !heap->options.timeline &&
	       (acquires_plainly(function) || releases_plainly(function));
}

/* What act->begin and the others would be of the whole call. */
static void set_times(const struct heap *heap, const struct whole_call *call,
		      struct heap_act *act)
{
	const uint64_t took = call->end > call->time ? call->end - call->time :
						       0;

	act->end = heap_time(heap, call->end);
	act->begin = act->end - took - !took;
	act->correction = -(int64_t)!took;
	act->untimed = call->untimed;
}

/* What those need who do what is left; times and numbers are there. */
static void fill_in(const struct whole_call *call,
		    const struct known_act *known, struct heap_act *act)
{
	act->function = known->function;
	act->library = known->library;
	act->use = known->use;
	act->site = known->site;
	act->stack = call->stack;
	act->tid = call->tid;
	act->call = 0;
	act->old = act->old_size = act->count = act->item = 0;
	act->failed = act->unkept = act->is_further = false;
	act->sampling = SAMPLING_OPEN;
	act->rate = 0;
}

/* ---- acquisitions ---- */

static void hold(struct heap *heap, struct ledger *ledger,
		 const struct known_act *known, const struct whole_call *call,
		 const struct heap_act *act)
{
	struct site *site = heap->sites.all[known->site - 1];
	const struct live_block block = {
		.handle = act->handle,
		.size = act->size,
		.birth = heap_birth_of(heap, act->end),
		.site = site->number,
		.thread = heap_thread(heap, call->tid),
	};

	live_add(&ledger->live, &block);
	ledger->acquisitions++;
	ledger->latest = act->handle;
	ledger->has_latest = true;
	heap->live_count++;
	heap_count_acquired_plainly(heap, ledger, site, act, block.thread);
}

static bool acquire(struct heap *heap, const struct known_act *known,
		    const struct whole_call *call)
{
	const struct family *family = known->function->family;
	struct ledger *ledger = heap_ledger(heap, family);
	struct heap_act act;

	act.handle = call->result;
	act.size = operand_of(&known->function->size, call->arguments,
			      call->result);
	if (!known->site || !act.handle || act.size >> LIVE_SIZE_BITS ||
	    call->function->whole != WHOLE_AT_RETURN ||
	    heap->live_count >= heap->options.limits.blocks)
		return false;
	set_times(heap, call, &act);
	known->use->bytes += act.size;
	known->use->calls++;
	heap_count_time_of(known->use, &act);
	if (!recent_forget(&heap->recent, family, act.handle) &&
	    live_find(&ledger->live, act.handle)) {
		fill_in(call, known, &act);
		handles_acquire(heap, &act);
	} else {
		hold(heap, ledger, known, call, &act);
	}
	return true;
}

/* ---- releases ---- */

static bool fits(const struct site *site, const struct known_act *known)
{
	return !heap_forms_differ(site->function, known->function) &&
	       !heap_libraries_differ(site->library, known->library);
}

/* Of one that was acquired by somebody whom it fits. */
static void settle(struct heap *heap, struct ledger *ledger,
		   const struct heap_act *act, const struct taken *taken)
{
	struct site *site = heap->sites.all[taken->block.site - 1];

	heap_note_released(heap, act, site, act->handle);
	if (taken->latest)
		heap_count_temporary(heap, site, taken->block.size);
	heap->live_count--;
	heap_count_gone_plainly(heap, ledger, site, act->begin,
				heap_birth(heap, &taken->block),
				taken->block.size);
}

static void give_back(struct heap *heap, const struct known_act *known,
		      const struct whole_call *call, struct heap_act *act)
{
	struct taken taken;
	const struct site *site;

	taken.latest = 0;
	handles_take(heap, act, act->handle, &taken);
	known->use->calls++;
	if (taken.found)
		known->use->bytes += taken.block.size;
	site = taken.found ? heap->sites.all[taken.block.site - 1] : NULL;
	if (!site || !fits(site, known)) {
		fill_in(call, known, act);
		handles_settle(heap, act, act->handle, &taken);
		return;
	}
	settle(heap, heap_ledger(heap, known->function->family), act, &taken);
}

static bool release(struct heap *heap, const struct known_act *known,
		    const struct whole_call *call)
{
	struct heap_act act;

	act.handle = call->arguments[known->function->handle.index];
	if (!act.handle || call->function->whole != WHOLE_AT_ENTRY)
		return false;
	act.function = known->function;
	act.library = known->library;
	act.stack = call->stack;
	act.size = 0;
	act.begin = act.end = heap_time(heap, call->time);
	act.correction = 0;
	act.untimed = call->untimed;
	give_back(heap, known, call, &act);
	if (!call->end)
		return true;
	set_times(heap, call, &act);
	heap_count_time_of(known->use, &act);
	return true;
}

bool heap_take_plain(struct heap *heap, const struct whole_call *call)
{
	const struct known_act *known;

	if (heap->sampler.mean || heap->off_since)
		return false;
	known = heap_known(heap, call->function->subject, call->stack);
	if (!known || !known->is_plain || !known->use)
		return false;
	return known->function->act == FAMILY_RELEASE ?
		       release(heap, known, call) :
		       acquire(heap, known, call);
}
