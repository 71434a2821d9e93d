/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

static struct incident incident_at(struct heap *heap,
				   const struct heap_act *act,
				   enum incident_kind kind, uint64_t handle)
{
	return (struct incident){
		.kind = kind,
		.second = act->stack,
		.second_function = act->function,
		.second_library = heap_library(heap, act->library),
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
	incident.bytes = size;
	incident.size = size;
	incidents_add(&heap->incidents, &incident);
}

static bool forms_differ(const struct family_function *a,
			 const struct family_function *b)
{
	return a->form && b->form && a->form != b->form;
}

void heap_judge_release(struct heap *heap, const struct heap_act *act,
			const struct site *site, uint64_t handle, uint64_t size)
{
	const struct family *family = site->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;
	bool release = act->function->act == FAMILY_RELEASE;

	if (forms_differ(site->function, act->function)) {
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
	if (site->library && act->library &&
	    site->library != heap_library(heap, act->library))
		add_pair(heap, act, INCIDENT_CROSS, site, handle, size);
}

void heap_judge_unknown(struct heap *heap, const struct heap_act *act,
			uint64_t handle)
{
	const struct family *family = act->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;
	const struct recent_release *earlier =
		recent_find(&heap->recent, family, handle);
	struct incident incident =
		incident_at(heap, act, INCIDENT_INVALID_FREE, handle);

	if (earlier) {
		total->double_frees++;
		incident.kind = INCIDENT_DOUBLE_FREE;
		incident.first = earlier->stack;
		incident.first_function = earlier->function;
		incident.first_library = earlier->library;
	} else if (act->function->act == FAMILY_RESIZE) {
		total->unknown_resizes++;
		return;
	} else if (!heap->options.complete || total->unkept || total->dropped) {
		total->unknown_frees++;
		return;
	} else {
		total->invalid_frees++;
	}
	incidents_add(&heap->incidents, &incident);
}

void heap_note_released(struct heap *heap, const struct heap_act *act,
			uint64_t handle)
{
	/* Only the first one was right. */
	if (recent_find(&heap->recent, act->function->family, handle))
		return;
	recent_add(&heap->recent,
		   &(struct recent_release){
			   .handle = handle,
			   .function = act->function,
			   .library = heap_library(heap, act->library),
			   .stack = act->stack,
		   });
}
