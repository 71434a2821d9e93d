/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

static struct site *new_site(struct heap *heap, stack_id stack,
			     const struct family_function *function,
			     const char *library)
{
	struct site *site = sites_add(&heap->sites, stack, function, library);

	site->library_holder = heap_holder(heap, function->family, library, 0);
	site->component = heap_component(heap, stack, library);
	if (site->component)
		site->component_holder = heap_holder(heap, function->family,
						     NULL, site->component);
	return site;
}

/* When there are too many sites, those of a function share one. */
struct site *heap_find_site(struct heap *heap, const struct heap_act *act)
{
	const char *library = act->library;
	stack_id stack = act->stack;
	struct site *site;

	site = sites_find(&heap->sites, stack, act->function, library);
	if (!site && heap->sites.count >= heap->options.limits.sites) {
		heap_ledger(heap, act->function->family)->total.merged++;
		stack = STACK_NONE;
		library = NULL;
		site = sites_find(&heap->sites, stack, act->function, library);
	}
	if (!site)
		site = new_site(heap, stack, act->function, library);
	heap_know_site(heap, act, site);
	return site;
}

static struct heap_use *use_of(struct heap *heap, const struct heap_act *act)
{
	struct heap_use *use = act->use;

	if (use)
		return use;
	use = heap_use(heap, act->function, act->library,
		       heap_component(heap, act->stack, act->library));
	heap_know_use(heap, act, use);
	return use;
}

void heap_count_use(struct heap *heap, const struct heap_act *act,
		    uint64_t bytes, uint64_t calls)
{
	struct heap_use *use = use_of(heap, act);

	use->failed += act->failed;
	if (!act->failed)
		use->bytes += bytes * calls;
	if (act->is_further)
		return;
	use->calls += calls;
	heap_count_time_of(use, act);
}

void heap_count_time(struct heap *heap, const struct heap_act *act)
{
	heap_count_time_of(use_of(heap, act), act);
}

void heap_count_failed(struct heap *heap, const struct heap_act *act)
{
	heap_ledger(heap, act->function->family)->total.failed++;
	heap_site_of(heap, act)->failed++;
}

/* What is held, and at its most. */
struct held_totals {
	uint64_t *blocks, *bytes;
	uint64_t *peak_blocks, *peak_bytes, *peak_time;
};

/* Whether there was a new peak. Inline: what it is told lies in registers then. */
static inline __attribute__((always_inline)) bool
change(const struct held_totals *held, int64_t blocks, int64_t bytes,
       bool has_size, uint64_t time)
{
	bool higher;

	*held->blocks += blocks;
	*held->bytes += bytes;
	if (blocks <= 0 && bytes <= 0)
		return false;
	higher = has_size ? *held->bytes > *held->peak_bytes :
			    *held->blocks > *held->peak_blocks;
	if (*held->bytes > *held->peak_bytes)
		*held->peak_bytes = *held->bytes;
	if (*held->blocks > *held->peak_blocks)
		*held->peak_blocks = *held->blocks;
	if (higher)
		*held->peak_time = time;
	return higher;
}

static inline __attribute__((always_inline)) void
change_holder(struct heap_holder *holder, int64_t blocks, int64_t bytes,
	      bool has_size, uint64_t time)
{
	if (blocks > 0) {
		holder->alloc_blocks += blocks;
		holder->alloc_bytes += bytes;
	}
	(void)change(&(struct held_totals){ &holder->blocks, &holder->bytes,
					    &holder->peak_blocks,
					    &holder->peak_bytes,
					    &holder->peak_time },
		     blocks, bytes, has_size, time);
}

/* A site that is left alone since the peak holds what it held then: only before
   it changes for the first time this has to be kept. */
static void keep_at_peak(const struct ledger *ledger, struct site *site)
{
	if (site->at_peak_number == ledger->peak_number)
		return;
	site->at_peak = (struct site_amount){ site->blocks, site->bytes };
	site->at_peak_number = ledger->peak_number;
}

struct site_amount heap_at_peak(const struct heap *heap,
				const struct site *site)
{
	const struct family *family = site->function->family;

	if (site->at_peak_number == heap->ledgers[family->index].peak_number)
		return site->at_peak;
	return (struct site_amount){ site->blocks, site->bytes };
}

/* A site with a single block needs no history. */
static void change_history(struct heap *heap, struct site *site,
			   struct history_state before,
			   struct history_state now, uint64_t since)
{
	struct history *history = &site->history;

	if (!history->points) {
		if (site->alloc_blocks < 2 && !site->freed_bytes)
			return;
		history_change(history, heap_since(heap, site->first_time),
			       before);
	}
	history_change(history, since, now);
}

/*
 * What is there after it. By calculation: to read both numbers again takes until they
 * are written, as that is done at once, and they were written one by one.
 */
static struct history_state after(struct history_state before, int64_t blocks,
				  int64_t bytes)
{
	return (struct history_state){ before.blocks + blocks,
				       before.bytes + bytes };
}

/*
 * What a resize gives back is replaced at once: that is no low water.
 * Inline: of what is plain (heap/plain.c) most of it is known beforehand.
 */
static inline __attribute__((always_inline)) void
change_each(struct heap *heap, struct ledger *ledger, struct site *site,
	    int64_t blocks, int64_t bytes, uint64_t time, bool plain)
{
	struct heap_total *total = &ledger->total;
	const struct site *resizing = plain ? NULL : heap->resizing;
	const bool has_size = plain || ledger->family->has_size;
	const struct history_state before = { site->blocks, site->bytes };
	const struct history_state all = { total->blocks, total->bytes };
	const uint64_t since = heap_since(heap, time);
	bool lasts = blocks > 0 || bytes > 0 || !resizing;

	keep_at_peak(ledger, site);
	(void)change(&(struct held_totals){ &site->blocks, &site->bytes,
					    &site->peak_blocks,
					    &site->peak_bytes,
					    &site->peak_time },
		     blocks, bytes, has_size, time);
	if (change(&(struct held_totals){ &total->blocks, &total->bytes,
					  &total->peak_blocks,
					  &total->peak_bytes,
					  &total->peak_time },
		   blocks, bytes, has_size, time)) {
		ledger->peak_number++;
		total->at_peak_blocks = total->blocks;
	}
	if (lasts || site != resizing)
		change_history(heap, site, before, after(before, blocks, bytes),
			       since);
	if (lasts)
		history_change(&ledger->history, since,
			       after(all, blocks, bytes));
	change_holder(site->library_holder, blocks, bytes, has_size, time);
	if (!plain && site->component_holder)
		change_holder(site->component_holder, blocks, bytes, has_size,
			      time);
}

static void note_thread(struct site *site, uint16_t thread)
{
	if (!site->alloc_blocks)
		site->thread = thread;
	else if (site->thread != thread)
		site->thread = 0;
}

static void count_sample(struct site *site, uint64_t size,
			 const struct sample_weight *weight)
{
	site->samples++;
	sample_spread_add(&site->byte_spread, weight, size);
}

static inline __attribute__((always_inline)) void
count_acquired(struct heap *heap, struct ledger *ledger, struct site *site,
	       const struct heap_act *act, uint16_t thread, uint64_t size,
	       const struct sample_weight *weight, bool plain)
{
	const uint64_t blocks = weight->count, bytes = blocks * size;
	struct heap_total *total = &ledger->total;

	note_thread(site, thread);
	if (!site->alloc_blocks)
		site->first_time = act->end;
	site->last_time = act->end;
	site->alloc_blocks += blocks;
	site->alloc_bytes += bytes;
	total->alloc_blocks += blocks;
	total->alloc_bytes += bytes;
	if (!plain && heap_is_sampled(heap, site->function->family))
		count_sample(site, size, weight);
	history_change(&ledger->activity, heap_since(heap, act->end),
		       (struct history_state){ total->alloc_blocks, 0 });
	if (plain || site->function->family->has_size)
		log_histogram_add_many(&site->sizes, size ? size - 1 : 0,
				       blocks);
	if (!act->untimed && act->end > act->begin) {
		log_histogram_add(&site->times, act->end - act->begin);
		site->total_ns += act->end - act->begin + act->correction;
	}
	if (!plain && heap->options.timeline)
		timeline_acquired(&heap->timeline, &site->times_of_blocks,
				  heap_since(heap, act->end), blocks, bytes);
	change_each(heap, ledger, site, blocks, bytes, act->end, plain);
}

void heap_count_acquired(struct heap *heap, struct site *site,
			 const struct heap_act *act, uint16_t thread,
			 uint64_t size, const struct sample_weight *weight)
{
	count_acquired(heap, heap_ledger(heap, site->function->family), site,
		       act, thread, size, weight, false);
}

void heap_count_acquired_plainly(struct heap *heap, struct ledger *ledger,
				 struct site *site, const struct heap_act *act,
				 uint16_t thread)
{
	count_acquired(heap, ledger, site, act, thread, act->size,
		       &WEIGHT_OF_ONE, true);
}

void heap_count_temporary(struct heap *heap, struct site *site, uint64_t size)
{
	heap_ledger(heap, site->function->family)->total.temporary_blocks++;
	site->temporary.blocks++;
	site->temporary.bytes += size;
}

void heap_forget_latest(struct heap *heap)
{
	for (size_t i = 0; i < heap->ledger_count; i++) {
		heap->ledgers[i].acquisitions++;
		heap->ledgers[i].has_latest = false;
		heap->ledgers[i].latest_block = NULL;
	}
}

static void end_lifetime(struct site *site, uint64_t time, uint64_t birth,
			 uint64_t blocks, enum gone why)
{
	uint64_t lifetime = time > birth ? time - birth : 0;

	site->lifetime_ns += (double)lifetime * (double)blocks;
	if (why == GONE_RELEASED) {
		log_histogram_add(&site->lifetimes, lifetime);
		site->last_free = time;
	} else if (why == GONE_RESIZED) {
		site->resized++;
	}
}

static inline __attribute__((always_inline)) void
count_gone(struct heap *heap, struct ledger *ledger, struct site *site,
	   uint64_t time, uint64_t birth, uint64_t bytes, uint64_t blocks,
	   enum gone why, bool plain)
{
	struct heap_total *total = &ledger->total;

	site->freed_blocks += blocks;
	site->freed_bytes += bytes;
	total->freed_blocks += blocks;
	total->freed_bytes += bytes;
	if (blocks)
		end_lifetime(site, time, birth, blocks, why);
	if (!plain && heap->options.timeline)
		timeline_gone(&heap->timeline, &site->times_of_blocks,
			      heap_since(heap, birth), heap_since(heap, time),
			      blocks, bytes);
	change_each(heap, ledger, site, -(int64_t)blocks, -(int64_t)bytes, time,
		    plain);
}

void heap_count_gone(struct heap *heap, struct site *site, uint64_t time,
		     uint64_t birth, uint64_t bytes, uint64_t blocks,
		     enum gone why)
{
	count_gone(heap, heap_ledger(heap, site->function->family), site, time,
		   birth, bytes, blocks, why, false);
}

void heap_count_gone_plainly(struct heap *heap, struct ledger *ledger,
			     struct site *site, uint64_t time, uint64_t birth,
			     uint64_t size)
{
	count_gone(heap, ledger, site, time, birth, size, 1, GONE_RELEASED,
		   true);
}
