/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

#define BIRTH_SHIFT 10 /* struct live_block's 1024 ns */

uint64_t heap_birth(const struct heap *heap, const struct live_block *block)
{
	return heap->options.start + ((uint64_t)block->birth << BIRTH_SHIFT);
}

static struct site *site_at(const struct heap *heap, uint32_t number)
{
	return heap->sites.all[number - 1];
}

static uint64_t size_of(const struct family *family,
			const struct live_block *block)
{
	return family->has_size ? block->size : 0;
}

/* Something else lives where the block was: its release was not seen, or not
   needed. */
static void evict(struct heap *heap, const struct heap_act *act,
		  const struct live_block *block)
{
	const struct family *family = act->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;

	if (act->function->act == FAMILY_REPLACE || family->partly)
		total->replaced++;
	else
		total->reused++;
	heap->live_count--;
	heap_count_gone(heap, site_at(heap, block->site), act->end,
			heap_birth(heap, block), size_of(family, block), 1,
			GONE_REPLACED);
}

static void acquire_again(struct live_block *block)
{
	if (block->size < (UINT64_C(1) << 48) - 1)
		block->size++;
}

static void add(struct heap *heap, const struct heap_act *act)
{
	const struct family *family = act->function->family;
	struct ledger *ledger = heap_ledger(heap, family);
	uint64_t largest = (UINT64_C(1) << 48) - 1;
	struct site *site = heap_site_of(heap, act);
	struct live_block block = {
		.handle = act->handle,
		.size = act->size < largest ? act->size : largest,
		.birth = heap_since(heap, act->end) >> BIRTH_SHIFT,
		.site = site->number,
		.thread = heap_thread(heap, act->tid),
	};

	if (family->shared)
		block.size = 1;
	live_add(&ledger->live, &block);
	ledger->latest = act->handle;
	ledger->has_latest = true;
	heap->live_count++;
	heap_count_acquired(heap, site, act, size_of(family, &block));
}

void handles_acquire(struct heap *heap, const struct heap_act *act)
{
	const struct family *family = act->function->family;
	struct ledger *ledger = heap_ledger(heap, family);
	struct live_block *there = live_find(&ledger->live, act->handle);
	struct live_block old;

	if (there && family->shared) {
		acquire_again(there);
		return;
	}
	if (there && live_remove(&ledger->live, act->handle, &old))
		evict(heap, act, &old);
	recent_forget(&heap->recent, family, act->handle);
	ledger->acquisitions++;
	ledger->has_latest = false;
	if (act->unkept)
		ledger->total.unkept++;
	else if (heap->live_count >= heap->options.limits.blocks)
		ledger->total.dropped++;
	else
		add(heap, act);
}

void handles_take(struct heap *heap, const struct heap_act *act,
		  uint64_t handle, struct taken *ret)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);

	ret->found = live_remove(&ledger->live, handle, &ret->block);
	if (!ret->found || !ledger->has_latest || ledger->latest != handle)
		return;
	ret->latest = ledger->acquisitions;
	ledger->has_latest = false;
}

/* It failed, so nobody can have got the same; unless something was missed. */
void handles_put_back(struct heap *heap, const struct heap_act *act,
		      struct taken *taken)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);

	if (!taken->found)
		return;
	if (live_find(&ledger->live, taken->block.handle))
		evict(heap, act, &taken->block);
	else
		live_add(&ledger->live, &taken->block);
	if (taken->latest && taken->latest == ledger->acquisitions)
		ledger->has_latest = true;
	taken->found = false;
}

void handles_settle(struct heap *heap, const struct heap_act *act,
		    uint64_t handle, struct taken *taken)
{
	const struct family *family = act->function->family;
	bool resize = act->function->act == FAMILY_RESIZE;
	const struct live_block *block = &taken->block;
	struct site *site;

	if (!taken->found) {
		heap_judge_unknown(heap, act, handle);
		heap_note_released(heap, act, NULL, handle);
		return;
	}
	if (family->shared && !resize && block->size > 1) {
		taken->block.size--;
		handles_put_back(heap, act, taken);
		return;
	}
	site = site_at(heap, block->site);
	heap_judge_release(heap, act, site, handle, size_of(family, block));
	heap_note_released(heap, act, site, handle);
	if (taken->latest && !resize)
		heap_count_temporary(heap, site, size_of(family, block));
	heap->live_count--;
	heap_count_gone(heap, site, act->begin, heap_birth(heap, block),
			size_of(family, block), 1,
			resize ? GONE_RESIZED : GONE_RELEASED);
}
