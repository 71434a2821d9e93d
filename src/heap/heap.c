/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/heap.h"

#include <stdlib.h>

#include "heap/look.h"
#include "heap/private.h"
#include "heap/reached.h"

static uint64_t mean_at(const struct heap *heap, unsigned rate)
{
	return heap->options.sample << rate;
}

struct heap *heap_new(const struct heap_options *options)
{
	struct heap *heap = xcalloc(1, sizeof(*heap));

	heap->options = *options;
	if (!heap->options.limits.blocks)
		heap->options.limits = HEAP_LIMITS_DEFAULT;
	heap->rate = options->rate;
	heap->rate_since = options->start;
	heap->last_tid = -1;
	if (options->sample > 1 || options->adapts)
		sampler_init(&heap->sampler, mean_at(heap, options->rate),
			     options->seed);
	heap->incidents.limit = heap->options.limits.incidents;
	heap->ledger_count = families_count(options->families);
	heap->ledgers = xcalloc(heap->ledger_count, sizeof(*heap->ledgers));
	for (size_t i = 0; i < heap->ledger_count; i++)
		heap->ledgers[i].family = families_at(options->families, i);
	return heap;
}

void heap_free(struct heap *heap)
{
	if (!heap)
		return;
	heap_pending_fini(heap);
	history_fini(&heap->held_up);
	for (size_t i = 0; i < heap->ledger_count; i++) {
		live_fini(&heap->ledgers[i].live);
		ranges_fini(&heap->ledgers[i].ranges);
		history_fini(&heap->ledgers[i].history);
		history_fini(&heap->ledgers[i].activity);
	}
	free(heap->ledgers);
	sites_fini(&heap->sites);
	recent_fini(&heap->recent);
	incidents_fini(&heap->incidents);
	doubts_fini(&heap->doubts);
	old_releases_fini(&heap->old_releases);
	heap_registry_fini(heap);
	heap_reach_free(heap->reach);
	heap_look_free(heap->look);
	free(heap);
}

uint64_t heap_sample(const struct heap *heap)
{
	return heap->sampler.mean;
}

int64_t heap_total_time(const struct heap *heap, int64_t timed_ns,
			uint64_t timed, uint64_t calls)
{
	if (heap_sample(heap) || timed == calls || !timed)
		return timed_ns;
	return (double)timed_ns * (double)calls / (double)timed;
}

void heap_set_rate(struct heap *heap, unsigned rate, uint64_t now)
{
	const uint64_t time = heap_time(heap, now);

	if (rate == heap->rate)
		return;
	/* A look at the clock before the last switch may be told after it. */
	if (time > heap->rate_since) {
		heap->rate_ns[heap->rate] += time - heap->rate_since;
		heap->rate_since = time;
	}
	heap->rate = rate;
	sampler_set_mean(&heap->sampler, mean_at(heap, rate));
}

struct heap_rate heap_rate(const struct heap *heap, unsigned rate, uint64_t now)
{
	struct heap_rate ret = { mean_at(heap, rate), heap->rate_ns[rate] };

	if (rate == heap->rate && now > heap->rate_since)
		ret.ns += now - heap->rate_since;
	return ret;
}

size_t heap_live_count(const struct heap *heap)
{
	return heap->live_count;
}

void heap_switch(struct heap *heap, uint64_t now, bool on)
{
	if (!on && !heap->off_since) {
		heap->off_since = now;
		heap_forget_latest(heap);
	} else if (on && heap->off_since) {
		heap->off_ns += now - heap->off_since;
		heap->off_since = 0;
	}
}

uint64_t heap_time(const struct heap *heap, uint64_t monotonic)
{
	if (heap->off_since && monotonic > heap->off_since)
		monotonic = heap->off_since;
	return monotonic - heap->off_ns;
}

uint64_t heap_off_time(const struct heap *heap)
{
	return heap->off_ns;
}

/* Recordings may say anything. */
#define TIME_MAX (UINT64_MAX / 4)

/* As if it had been so throughout that time. A history knows what was so at the
   beginning of an interval: what had changed last before. */
void heap_held_up(struct heap *heap, const struct heap_held_up *held_up)
{
	struct history *history = &heap->held_up;
	uint64_t since = heap_since(heap, heap_time(heap, held_up->since));
	uint64_t until = heap_since(heap, heap_time(heap, held_up->until));
	struct history_state held = history->last;
	double share, before = held.blocks;

	if (since < heap->held_until)
		since = heap->held_until;
	if (until <= since || until > TIME_MAX)
		return;
	heap->held_until = until;
	share = (double)held_up->ns / (until - since);
	if (share > 1)
		share = 1;
	history_change(history, since, held);
	for (uint64_t time = since; time < until;) {
		time = (time / history->interval + 1) * history->interval;
		if (time > until)
			time = until;
		held.blocks = before + share * (time - since);
		history_change(history, time - 1, held);
	}
}

const struct history *heap_held_history(const struct heap *heap)
{
	return &heap->held_up;
}

uint64_t heap_start(const struct heap *heap)
{
	return heap->options.start;
}

size_t heap_family_count(const struct heap *heap)
{
	return heap->ledger_count;
}

const struct family *heap_family(const struct heap *heap, size_t index)
{
	return heap->ledgers[index].family;
}

static uint64_t held_since(const struct heap *heap, uint64_t time,
			   uint64_t until)
{
	struct history_point points[HISTORY_POINTS];
	uint64_t interval, held = heap->held_up.last.blocks;
	unsigned count =
		history_points(&heap->held_up, until, points, &interval);
	uint64_t index = time / interval;

	return index < count ? held - points[index].low_blocks : 0;
}

uint64_t heap_busy_until(const struct heap *heap, const struct family *family,
			 uint64_t now)
{
	const struct ledger *ledger = &heap->ledgers[family->index];
	struct history_point points[HISTORY_POINTS];
	uint64_t interval, busy, since = heap_since(heap, now);
	unsigned count, i = 0;

	if (heap->options.complete)
		return now;
	count = history_points(&ledger->activity, since, points, &interval);
	/* What was acquired so far never gets less: an interval ends with the
	   low water of the next one. */
	while (i + 1 < count &&
	       points[i + 1].low_blocks < 0.99 * ledger->activity.last.blocks)
		i++;
	busy = i * interval;
	return since - busy > held_since(heap, busy, since) + since / 5 ?
		       heap->options.start + busy :
		       now;
}

const struct heap_total *heap_total(const struct heap *heap,
				    const struct family *family)
{
	return &heap->ledgers[family->index].total;
}

uint64_t heap_unkept(const struct heap *heap)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < heap->ledger_count; i++)
		ret += heap->ledgers[i].total.unkept;
	return ret;
}

uint64_t heap_double_frees(const struct heap *heap)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < heap->ledger_count; i++)
		ret += heap->ledgers[i].total.double_frees;
	return ret;
}

const struct timeline *heap_timeline(struct heap *heap, uint64_t now)
{
	timeline_advance(&heap->timeline, heap_since(heap, now));
	for (size_t i = 0; i < heap->sites.count; i++)
		timeline_settle(&heap->timeline,
				&heap->sites.all[i]->times_of_blocks);
	return &heap->timeline;
}

const struct history *heap_total_history(const struct heap *heap,
					 const struct family *family)
{
	return &heap->ledgers[family->index].history;
}

const struct history *heap_activity(const struct heap *heap,
				    const struct family *family)
{
	return &heap->ledgers[family->index].activity;
}

const bool *heap_missing(const struct heap *heap)
{
	return heap->options.missing;
}

const struct stacks *heap_stacks(const struct heap *heap)
{
	return heap->options.stacks;
}

struct namer *heap_namer(const struct heap *heap)
{
	return heap->options.namer;
}

size_t heap_site_count(const struct heap *heap)
{
	return heap->sites.count;
}

const struct site *heap_site(const struct heap *heap, size_t number)
{
	return heap->sites.all[number - 1];
}

void heap_suppress(struct heap *heap,
		   unsigned (*find)(void *context, const struct site *site),
		   void *context)
{
	for (; heap->suppression_count < heap->sites.count;
	     heap->suppression_count++) {
		struct site *site = heap->sites.all[heap->suppression_count];

		site->suppression = find(context, site);
	}
}

size_t heap_incident_count(const struct heap *heap, enum incident_kind kind)
{
	return heap->incidents.count[kind];
}

const struct incident *heap_incident_at(const struct heap *heap,
					enum incident_kind kind, size_t index)
{
	return incidents_at(&heap->incidents, kind, index);
}

uint64_t heap_incidents_dropped(const struct heap *heap,
				enum incident_kind kind)
{
	return heap->incidents.dropped[kind];
}

struct heap_memory heap_memory(const struct heap *heap)
{
	struct heap_memory memory = {
		.site_bytes = sites_bytes(&heap->sites),
		.other_bytes = incidents_bytes(&heap->incidents) +
			       doubts_bytes(&heap->doubts) +
			       old_releases_bytes(&heap->old_releases) +
			       recent_bytes(&heap->recent) +
			       heap_registry_bytes(heap),
	};

	for (size_t i = 0; i < heap->ledger_count; i++) {
		memory.block_bytes += live_bytes(&heap->ledgers[i].live);
		memory.block_bytes += ranges_bytes(&heap->ledgers[i].ranges);
	}
	return memory;
}

static pid_t tid_of(const struct heap *heap, uint16_t thread)
{
	return thread ? heap->tids[thread - 1] : 0;
}

static bool next_range(const struct heap *heap, const struct ledger *ledger,
		       struct heap_walk *walk, struct heap_block *ret)
{
	const struct range_list *list = &ledger->ranges.live;
	const struct range *range;

	if (walk->index >= list->count)
		return false;
	range = &list->items[walk->index++];
	*ret = (struct heap_block){
		.site = heap_site(heap, range->block->site),
		.handle = range->begin,
		.size = range->end - range->begin,
		.birth = heap->options.start + range->block->birth,
		.tid = tid_of(heap, range->block->thread),
		.weight = WEIGHT_OF_ONE,
	};
	return true;
}

static bool next_handle(const struct heap *heap, const struct ledger *ledger,
			struct heap_walk *walk, struct heap_block *ret)
{
	for (; walk->part < ARRAY_SIZE(ledger->live.parts);
	     walk->part++, walk->index = 0) {
		const struct live_part *part = &ledger->live.parts[walk->part];

		while (walk->index < part->room) {
			const struct live_block *block =
				&part->slots[walk->index++];

			if (!block->site)
				continue;
			*ret = (struct heap_block){
				.site = heap_site(heap, block->site),
				.handle = block->handle,
				.size = ledger->family->has_size ? block->size :
								   0,
				.birth = heap_birth(heap, block),
				.tid = tid_of(heap, block->thread),
				.weight = heap_weight(heap, ledger->family,
						      block),
			};
			return true;
		}
	}
	return false;
}

bool heap_next_block(const struct heap *heap, struct heap_walk *walk,
		     struct heap_block *ret)
{
	while (walk->family < heap->ledger_count) {
		const struct ledger *ledger = &heap->ledgers[walk->family];

		if (ledger->family->granularity ?
			    next_range(heap, ledger, walk, ret) :
			    next_handle(heap, ledger, walk, ret))
			return true;
		*walk = (struct heap_walk){ .family = walk->family + 1 };
	}
	return false;
}
