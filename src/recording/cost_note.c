/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/cost_note.h"

#include "recording/numbers.h"

/* ---- numbers in a row ---- */

static void put_all(struct strbuf *out, uint64_t *const *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_varint(out, *numbers[i]);
}

static void take_all(struct cursor *in, uint64_t *const *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*numbers[i] = take_varint(in);
}

/* ---- the cost ---- */

#define COST_NUMBERS 9

static void cost_numbers(struct heap_cost *cost, uint64_t *ret[COST_NUMBERS])
{
	uint64_t *const all[COST_NUMBERS] = {
		&cost->cost.stops,         &cost->stopped_ns,
		&cost->cost.price.typical, &cost->cost.price.mean,
		&cost->cost.price.waits,   &cost->cost.price.resolution,
		&cost->stacks.stacks,      &cost->stacks.cut,
		&cost->stacks.broken,
	};

	memcpy(ret, all, sizeof(all));
}

static void put_thread(struct strbuf *out, const struct thread_cost *thread)
{
	put_varint(out, thread->tid);
	put_text(out, thread->name);
	put_varint(out, thread->stops);
	put_varint(out, thread->still_ns);
	put_varint(out, thread->seen_ns);
}

void cost_note_put(struct strbuf *out, const struct heap_cost *given)
{
	struct heap_cost cost = *given;
	uint64_t *numbers[COST_NUMBERS];

	cost_numbers(&cost, numbers);
	put_all(out, numbers, COST_NUMBERS);
	put_varint(out, cost.cost.more);
	put_varint(out, cost.cost.thread_count);
	for (unsigned i = 0; i < cost.cost.thread_count; i++)
		put_thread(out, &cost.cost.threads[i]);
}

static void take_thread(struct cursor *in, struct thread_cost *ret)
{
	struct cursor name;

	ret->tid = take_varint(in);
	name = take_part(in);
	if (!name.bad && name.size < sizeof(ret->name))
		memcpy(ret->name, name.bytes, name.size);
	ret->stops = take_varint(in);
	ret->still_ns = take_varint(in);
	ret->seen_ns = take_varint(in);
}

void cost_note_take(struct cursor *in, struct heap_cost *ret)
{
	uint64_t *numbers[COST_NUMBERS];
	uint64_t count;

	*ret = (struct heap_cost){ 0 };
	cost_numbers(ret, numbers);
	take_all(in, numbers, COST_NUMBERS);
	ret->cost.more = take_varint(in);
	count = take_varint(in);
	if (count > COST_THREADS)
		count = COST_THREADS;
	for (uint64_t i = 0; i < count; i++)
		take_thread(in, &ret->cost.threads[i]);
	ret->cost.thread_count = count;
}

/* ---- what the kernel says ---- */

#define VITALS 11

static void vitals_numbers(struct vitals *vitals, uint64_t *ret[VITALS])
{
	uint64_t *const all[VITALS] = {
		&vitals->virtual_bytes, &vitals->resident_bytes,
		&vitals->swapped_bytes, &vitals->minor_faults,
		&vitals->major_faults,  &vitals->descriptors,
		&vitals->threads,       &vitals->machine_bytes,
		&vitals->limit_bytes,   &vitals->cgroup_bytes,
		&vitals->oom_kills,
	};

	memcpy(ret, all, sizeof(all));
}

/* Which came later, and stand behind the others. */
#define MORE_VITALS 6

static void more_vitals(struct vitals *vitals, uint64_t *ret[MORE_VITALS])
{
	uint64_t *const all[MORE_VITALS] = {
		&vitals->anonymous_bytes, &vitals->file_bytes,
		&vitals->mappings,        &vitals->age_ns,
		&vitals->processor_ns,    &vitals->own_bytes,
	};

	memcpy(ret, all, sizeof(all));
}

void sample_note_put(struct strbuf *out, const struct vitals *given)
{
	struct vitals vitals = *given;
	uint64_t *numbers[VITALS];

	vitals_numbers(&vitals, numbers);
	put_all(out, numbers, VITALS);
	put_varint(out, vitals.cgroup_version);
	more_vitals(&vitals, numbers);
	put_all(out, numbers, MORE_VITALS);
}

void sample_note_take(struct cursor *in, struct vitals *ret)
{
	uint64_t *numbers[VITALS];

	*ret = (struct vitals){ 0 };
	vitals_numbers(ret, numbers);
	take_all(in, numbers, VITALS);
	ret->cgroup_version = take_varint(in);
	more_vitals(ret, numbers);
	for (size_t i = 0;
	     i < MORE_VITALS && !in->bad && in->position < in->size; i++)
		*numbers[i] = take_varint(in);
}

/* ---- the end ---- */

#define LOSSES 5

static void loss_numbers(struct watched *process, uint64_t *ret[LOSSES])
{
	uint64_t *const all[LOSSES] = {
		&process->calls,      &process->unreadable, &process->unseen,
		&process->lost_traps, &process->blind_ns,
	};

	memcpy(ret, all, sizeof(all));
}

void end_note_put(struct strbuf *out, const struct watched *given)
{
	struct watched process = *given;
	uint64_t *numbers[LOSSES];

	put_varint(out, process.state);
	put_varint(out, (unsigned)process.status);
	loss_numbers(&process, numbers);
	put_all(out, numbers, LOSSES);
	put_varint(out, process.uprobes);
	put_varint(out, process.vitals.oom_kills);
	put_varint(out, process.roomless);
}

void end_note_take(struct cursor *in, struct watched *ret)
{
	uint64_t *numbers[LOSSES];
	uint64_t state = take_varint(in);

	ret->state = state <= WATCHED_LEFT ? (enum watched_state)state :
					     WATCHED_LEFT;
	ret->status = take_varint(in);
	loss_numbers(ret, numbers);
	take_all(in, numbers, LOSSES);
	ret->uprobes = take_varint(in);
	ret->vitals.oom_kills = take_varint(in);
	/* Which came later. */
	if (!in->bad && in->position < in->size)
		ret->roomless = take_varint(in);
}
