/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "heap/private.h"

/* A release or resize that has been entered and not left. */
struct pending_key {
	uint64_t call;
	const struct family_function *function; /* one call may be several acts,
						   each of its family */
};

struct pending_act {
	struct pending_key key;
	struct taken taken;
	UT_hash_handle hh;
};

static bool is_null(const struct heap_act *act, uint64_t handle)
{
	return !handle && act->function->family->null_is_nothing;
}

static bool has_ranges(const struct heap_act *act)
{
	return act->function->family->granularity != 0;
}

static bool always_succeeds(const struct heap_act *act)
{
	return family_always_releases(act->function);
}

static void take(struct heap *heap, const struct heap_act *act,
		 struct taken *ret)
{
	bool resize = act->function->act == FAMILY_RESIZE;
	uint64_t handle = resize ? act->old : act->handle;
	uint64_t size = resize ? act->old_size : act->size;

	*ret = (struct taken){ 0 };
	if (is_null(act, handle))
		return;
	if (has_ranges(act))
		range_acts_take(heap, act, handle, size, ret);
	else
		handles_take(heap, act, handle, ret);
}

static void put_back(struct heap *heap, const struct heap_act *act,
		     struct taken *taken)
{
	if (has_ranges(act))
		range_acts_put_back(heap, act, taken);
	else
		handles_put_back(heap, act, taken);
}

static bool acquire(struct heap *heap, const struct heap_act *act)
{
	bool failed = act->failed || is_null(act, act->handle);

	if (failed && !act->unkept && act->sampling != SAMPLING_LEFT)
		heap_count_failed(heap, act);
	else if (failed)
		return false;
	else if (has_ranges(act))
		range_acts_acquire(heap, act);
	else
		handles_acquire(heap, act);
	return !failed;
}

/* What was taken is gone. */
static void settle(struct heap *heap, const struct heap_act *act,
		   uint64_t handle, struct taken *taken)
{
	if (has_ranges(act))
		range_acts_settle(heap, act, taken);
	else
		handles_settle(heap, act, handle, taken);
}

static uint64_t released_bytes(const struct heap_act *act,
			       const struct taken *taken)
{
	uint64_t bytes = 0;

	if (!act->function->family->has_size)
		return 0;
	if (!has_ranges(act))
		return taken->found ? taken->block.size : 0;
	for (size_t i = 0; i < taken->pieces.count; i++)
		bytes += taken->pieces.items[i].end -
			 taken->pieces.items[i].begin;
	return bytes;
}

static struct heap_outcome outcome_of(const struct heap_act *act,
				      const struct taken *taken)
{
	return (struct heap_outcome){
		.known = taken->found,
		.size = released_bytes(act, taken),
	};
}

/* Of those that gave back what isn't known, there may have been any number. */
static uint64_t calls_of_release(const struct heap *heap,
				 const struct heap_act *act,
				 const struct taken *taken)
{
	const struct family *family = act->function->family;

	if (!heap_is_sampled(heap, family))
		return 1;
	return taken->found ? heap_weight(heap, family, &taken->block).count :
			      0;
}

static bool finish_release(struct heap *heap, const struct heap_act *act,
			   struct taken *taken, uint64_t bytes)
{
	struct heap_total *total =
		&heap_ledger(heap, act->function->family)->total;

	heap_count_use(heap, act, bytes, calls_of_release(heap, act, taken));
	if (act->failed)
		put_back(heap, act, taken);
	else if (is_null(act, act->handle) && !taken->found)
		total->null_releases++;
	else
		settle(heap, act, act->handle, taken);
	return !act->failed;
}

/* realloc(p, 0) gives p back and returns null, where it doesn't give a small
   block instead. */
static bool has_released(const struct heap_act *act)
{
	return act->function->family->has_size && !has_ranges(act) &&
	       act->size == 0 && act->handle == 0 && act->old != 0;
}

/* mremap() of no bytes maps the same a second time. */
static bool gives_back(const struct heap_act *act)
{
	return !is_null(act, act->old) &&
	       (!has_ranges(act) || act->old_size != 0);
}

static bool finish_resize(struct heap *heap, const struct heap_act *act,
			  struct taken *taken)
{
	struct heap_act copy = *act;
	bool released = has_released(act);

	/* What was kept before goes on to be. */
	copy.unkept = act->unkept && !taken->found;
	copy.failed = !released && (act->failed || is_null(act, act->handle));
	heap_count_use(heap, &copy, act->size, heap_act_weight(heap, act));
	if (copy.failed) {
		put_back(heap, &copy, taken);
		if (act->sampling != SAMPLING_LEFT)
			heap_count_failed(heap, &copy);
		return false;
	}
	if (!released && act->sampling != SAMPLING_LEFT)
		heap->resizing = heap_site_of(heap, act);
	if (heap->resizing && !taken->found && gives_back(act) &&
	    !heap_is_sampled(heap, act->function->family))
		heap->resizing->adopted++;
	if (taken->found || gives_back(act))
		settle(heap, &copy, act->old, taken);
	heap->resizing = NULL;
	return released || acquire(heap, &copy);
}

static struct pending_act *find_pending(const struct heap *heap,
					const struct heap_act *act)
{
	struct pending_key key = { act->call, act->function };
	struct pending_act *found;

	HASH_FIND(hh, heap->pending, &key, sizeof(key), found);
	return found;
}

struct heap_outcome heap_begin(struct heap *heap, const struct heap_act *act)
{
	enum family_act kind = act->function->act;
	struct pending_act *pending;

	if (kind != FAMILY_RELEASE && kind != FAMILY_RESIZE)
		return (struct heap_outcome){ 0 };
	if (always_succeeds(act)) {
		struct heap_act entered = *act;

		entered.call = 0;
		entered.end = 0;
		return heap_act(heap, &entered);
	}
	if (!act->call || find_pending(heap, act))
		return (struct heap_outcome){ 0 };
	pending = xcalloc(1, sizeof(*pending));
	pending->key = (struct pending_key){ act->call, act->function };
	HASH_ADD(hh, heap->pending, key, sizeof(pending->key), pending);
	take(heap, act, &pending->taken);
	return outcome_of(act, &pending->taken);
}

/* What the call took at its entry; without a heap_begin(): now. */
static void take_pending(struct heap *heap, const struct heap_act *act,
			 struct taken *ret)
{
	struct pending_act *pending = act->call ? find_pending(heap, act) :
						  NULL;

	if (!pending) {
		take(heap, act, ret);
		return;
	}
	*ret = pending->taken;
	HASH_DEL(heap->pending, pending);
	free(pending);
}

static struct heap_outcome act_on_blocks(struct heap *heap,
					 const struct heap_act *act)
{
	struct heap_outcome outcome = { .done = true };
	struct taken taken;

	if (act->call && always_succeeds(act)) {
		heap_count_time(heap, act);
		return outcome;
	}
	take_pending(heap, act, &taken);
	outcome = outcome_of(act, &taken);
	if (act->function->act == FAMILY_RESIZE)
		outcome.done = finish_resize(heap, act, &taken);
	else
		outcome.done = finish_release(heap, act, &taken, outcome.size);
	return outcome;
}

/* Nobody has chosen yet. */
static void choose(struct heap *heap, struct heap_act *act)
{
	if (act->sampling != SAMPLING_OPEN || !family_acquires(act->function) ||
	    !heap_is_sampled(heap, act->function->family))
		return;
	act->rate = heap->rate;
	act->sampling = sampler_takes(&heap->sampler, act->size) ?
				SAMPLING_KEPT :
				SAMPLING_LEFT;
}

/* As the heap keeps it: libraries are compared by address, and the time of an
   act is never 0, which would be long before the start. */
static void translate(struct heap *heap, struct heap_act *act)
{
	const uint64_t end = act->end > act->begin ? act->end : act->begin;

	act->end = heap_time(heap, end);
	act->begin = act->end - (end - act->begin);
	heap_recognise(heap, act);
}

static struct heap_outcome act_as_chosen(struct heap *heap,
					 const struct heap_act *act)
{
	struct heap_outcome outcome = { 0 };

	switch (act->function->act) {
	case FAMILY_RELEASE:
	case FAMILY_RESIZE:
		return act_on_blocks(heap, act);
	case FAMILY_ACQUIRE:
	case FAMILY_REPLACE:
		if (!act->unkept)
			heap_count_use(heap, act, act->size,
				       heap_act_weight(heap, act));
		outcome.done = acquire(heap, act);
		break;
	case FAMILY_MOVE:
		heap_count_use(heap, act, act->size, 1);
		outcome.done = !act->failed;
		if (act->failed)
			heap_count_failed(heap, act);
		else
			range_acts_move(heap, act);
		break;
	}
	return outcome;
}

struct heap_outcome heap_take_act(struct heap *heap, struct heap_act *act)
{
	struct heap_outcome outcome;

	translate(heap, act);
	choose(heap, act);
	outcome = act_as_chosen(heap, act);
	outcome.kept = outcome.done && act->sampling == SAMPLING_KEPT;
	return outcome;
}

struct heap_outcome heap_act(struct heap *heap, const struct heap_act *act)
{
	struct heap_act copy = *act;

	return heap_take_act(heap, &copy);
}

void heap_act_timed(struct heap *heap, struct heap_act *act)
{
	translate(heap, act);
	heap_count_time(heap, act);
}

bool heap_abandon(struct heap *heap, const struct heap_act *act)
{
	struct pending_act *pending = find_pending(heap, act);
	bool held;

	heap_ledger(heap, act->function->family)->total.in_flight++;
	if (!act->call || !pending)
		return false;
	held = pending->taken.found;
	put_back(heap, act, &pending->taken);
	HASH_DEL(heap->pending, pending);
	free(pending);
	return held;
}

/* Blocks of ranges have their memory from their pieces. */
void heap_pending_fini(struct heap *heap)
{
	struct pending_act *pending, *next;

	HASH_ITER(hh, heap->pending, pending, next) {
		struct range_list *pieces = &pending->taken.pieces;

		for (size_t i = 0; i < pieces->count; i++)
			if (--pieces->items[i].block->pieces == 0)
				free(pieces->items[i].block);
		range_list_fini(pieces);
		HASH_DEL(heap->pending, pending);
		free(pending);
	}
}
