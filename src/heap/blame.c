/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

static struct incident incident_at(const struct heap *heap,
				   const struct heap_act *act,
				   enum incident_kind kind, uint64_t handle)
{
	return (struct incident){
		.kind = kind,
		.second = act->stack,
		.second_function = act->function,
		.second_library = act->library,
		.second_component =
			heap_component(heap, act->stack, act->library),
		.first_time = act->begin,
		.handle = handle,
	};
}

static void add_pair(struct heap *heap, const struct heap_act *act,
		     enum incident_kind kind, const struct site *site,
		     uint64_t handle, uint64_t size)
{
	struct incident incident = incident_at(heap, act, kind, handle);

	incident.first = site->stack;
	incident.first_function = site->function;
	incident.first_library = site->library;
	incident.first_component = site->component;
	incident.bytes = size;
	incident.size = size;
	incidents_add(&heap->incidents, &incident);
}

/*
 * Whether what one has acquired is given back by another: a component, where
 * both are known to be of one, else a library.
 */
static bool crosses(struct heap *heap, const struct heap_act *act,
		    const struct site *site)
{
	unsigned component = heap_component(heap, act->stack, act->library);

	if (site->component && component)
		return component != site->component;
	return heap_libraries_differ(site->library, act->library);
}

void heap_judge_release(struct heap *heap, const struct heap_act *act,
			const struct site *site, uint64_t handle, uint64_t size)
{
	const struct family *family = site->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;
	bool release = act->function->act == FAMILY_RELEASE;

	if (heap_forms_differ(site->function, act->function)) {
		total->mismatches++;
		add_pair(heap, act, INCIDENT_MISMATCH, site, handle, size);
	}
	if (!release)
		return;
	if (!family->granularity && family->has_size &&
	    act->function->size.kind != OPERAND_NONE && act->size != size) {
		total->size_mismatches++;
		add_pair(heap, act, INCIDENT_SIZE_MISMATCH, site, handle, size);
	}
	if (crosses(heap, act, site))
		add_pair(heap, act, INCIDENT_CROSS, site, handle, size);
}

/* Whether something may have been acquired unseen since then. */
static bool may_have_missed(const struct heap *heap,
			    const struct family *family, uint64_t since)
{
	const struct heap_options *options = &heap->options;

	return heap->missed_until >= since ||
	       (options->missing && options->missing[family->index]);
}

static bool was_inherited(const struct heap *heap, const struct heap_act *act,
			  uint64_t handle)
{
	const struct heap_options *options = &heap->options;

	if (act->function->family->has_size)
		return false;
	for (size_t i = 0; i < options->inherited_count; i++)
		if ((uint64_t)options->inherited[i] == handle)
			return true;
	return false;
}

/*
 * Others acquire such things, too. And where a release tells that it has
 * succeeded, there was something: close() gives 0 for a descriptor that came
 * from fcntl() or in a message, never for one that is closed.
 */
static bool was_acquired_unseen(const struct heap *heap,
				const struct family_function *function,
				bool earlier)
{
	if (function->family->partly)
		return true;
	if (function->family->granularity || function->act != FAMILY_RELEASE ||
	    function->success.compare == COMPARE_ALWAYS)
		return false;
	return earlier || heap->options.complete;
}

/*
 * When a call has begun that resizes, the block may be another's before it
 * returns, which acquires it and gives it back: that is no second release.
 */
static const struct recent_release *earlier_release(const struct heap *heap,
						    const struct heap_act *act,
						    uint64_t handle)
{
	const struct recent_release *found =
		recent_find(&heap->recent, act->function->family, handle);

	return found && found->known && found->time > act->begin ? NULL : found;
}

void heap_judge_unknown(struct heap *heap, const struct heap_act *act,
			uint64_t handle)
{
	const struct family *family = act->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;
	const struct recent_release *earlier =
		earlier_release(heap, act, handle);
	struct incident incident =
		incident_at(heap, act, INCIDENT_INVALID_FREE, handle);
	struct incident *added;

	/* It isn't among what is kept, as most aren't. */
	if (heap_is_sampled(heap, family))
		return;
	if (!was_inherited(heap, act, handle) &&
	    was_acquired_unseen(heap, act->function, earlier)) {
		total->unseen_frees++;
		recent_forget(&heap->recent, family, handle);
		return;
	}
	if (earlier && may_have_missed(heap, family, earlier->time)) {
		total->doubtful_frees++;
		recent_forget(&heap->recent, family, handle);
		return;
	} else if (earlier) {
		total->double_frees++;
		incident.kind = INCIDENT_DOUBLE_FREE;
		incident.first = earlier->stack;
		incident.first_function = earlier->function;
		incident.first_library = earlier->library;
		incident.first_component =
			heap_component(heap, earlier->stack, earlier->library);
	} else if (act->function->act == FAMILY_RESIZE) {
		total->unknown_resizes++;
		return;
	} else if (was_inherited(heap, act, handle)) {
		return;
	} else if (!heap->options.complete || total->unkept || total->dropped ||
		   heap->missed_until) {
		total->unknown_frees++;
		old_releases_add(&heap->old_releases, act->function, act->stack,
				 act->begin);
		return;
	} else {
		total->invalid_frees++;
	}
	added = incidents_add(&heap->incidents, &incident);
	if (added && earlier)
		doubts_add(&heap->doubts, added, act->begin);
}

/*
 * How often a handle had been acquired before our time, nobody knows; so not of
 * what was there, nor of what was acquired once more before all else.
 */
static bool knows_count(const struct heap *heap, const struct family *family,
			const struct site *site)
{
	return !family->shared || heap->options.complete ||
	       (site && site->function->handle.kind != OPERAND_ARGUMENT);
}

void heap_note_released(struct heap *heap, const struct heap_act *act,
			const struct site *site, uint64_t handle)
{
	const struct family *family = act->function->family;
	struct recent_release *release;

	/* It may be released again. */
	if (!knows_count(heap, family, site))
		return;
	/* Only the first one was right. */
	release = recent_add(&heap->recent, family, handle);
	if (!release)
		return;
	release->handle = handle;
	release->function = act->function;
	release->library = act->library;
	release->stack = act->stack;
	release->known = site;
	release->time = act->begin;
}
