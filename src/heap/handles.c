/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

static struct site *site_at(const struct heap *heap, uint32_t number)
{
	return heap->sites.all[number - 1];
}

static uint64_t size_of(const struct family *family,
			const struct live_block *block)
{
	return family->has_size ? block->size : 0;
}

/* ---- what is sampled ---- */

struct sample_weight heap_weight(const struct heap *heap,
				 const struct family *family,
				 const struct live_block *block)
{
	if (!heap_is_sampled(heap, family))
		return WEIGHT_OF_ONE;
	return sample_weigh(heap->options.sample << block->rate, block->size,
			    heap->options.seed ^ block->handle ^
				    (uint64_t)block->birth << 20);
}

void handles_gone(struct heap *heap, const struct family *family,
		  const struct live_block *block, uint64_t time, enum gone why)
{
	const uint64_t blocks = heap_weight(heap, family, block).count;

	heap->live_count--;
	heap_count_gone(heap, site_at(heap, block->site), time,
			heap_birth(heap, block),
			blocks * size_of(family, block), blocks, why);
}

/* ---- what acts do ---- */

/* Something else lives where the block was: its release was not seen, or not
   needed. */
static void evict(struct heap *heap, const struct heap_act *act,
		  const struct live_block *block)
{
	const struct family *family = act->function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;

	if (act->function->act == FAMILY_REPLACE || family->partly ||
	    family->collected)
		total->replaced++;
	else
		total->reused++;
	handles_gone(heap, family, block, act->end, GONE_REPLACED);
}

static void acquire_again(struct live_block *block)
{
	if (block->size < (UINT64_C(1) << LIVE_SIZE_BITS) - 1)
		block->size++;
}

static struct live_block block_of(const struct heap *heap,
				  const struct heap_act *act)
{
	const uint64_t largest = (UINT64_C(1) << LIVE_SIZE_BITS) - 1;

	_Static_assert(HEAP_RATES == 1 << LIVE_RATE_BITS, "any is kept");
	return (struct live_block){
		.handle = act->handle,
		.size = act->size < largest ? act->size : largest,
		.rate = act->rate,
		.birth = heap_birth_of(heap, act->end),
	};
}

uint64_t heap_act_weight(const struct heap *heap, const struct heap_act *act)
{
	const struct family *family = act->function->family;
	struct live_block block;

	if (act->sampling == SAMPLING_LEFT)
		return 0;
	if (!heap_is_sampled(heap, family))
		return WEIGHT_OF_ONE.count;
	block = block_of(heap, act);
	return heap_weight(heap, family, &block).count;
}

/* What came before the next acquisition isn't known where not all are. */
static void add(struct heap *heap, const struct heap_act *act)
{
	const struct family *family = act->function->family;
	struct ledger *ledger = heap_ledger(heap, family);
	struct site *site = heap_site_of(heap, act);
	struct live_block block = block_of(heap, act);
	struct sample_weight weight;

	block.site = site->number;
	block.thread = heap_thread(heap, act->tid);
	if (family->shared)
		block.size = 1;
	live_add(&ledger->live, &block);
	ledger->latest = act->handle;
	ledger->has_latest = !heap_is_sampled(heap, family);
	heap->live_count++;
	weight = heap_weight(heap, family, &block);
	heap_count_acquired(heap, site, act, block.thread,
			    size_of(family, &block), &weight);
}

void handles_acquire(struct heap *heap, const struct heap_act *act)
{
	const struct family *family = act->function->family;
	struct ledger *ledger = heap_ledger(heap, family);
	/* What was released and not acquired again isn't held. */
	struct live_block *there =
		recent_forget(&heap->recent, family, act->handle) ?
			NULL :
			live_find(&ledger->live, act->handle);
	struct live_block old;

	if (there && family->shared) {
		acquire_again(there);
		return;
	}
	if (there && live_remove(&ledger->live, act->handle, &old))
		evict(heap, act, &old);
	ledger->acquisitions++;
	ledger->has_latest = false;
	if (act->sampling == SAMPLING_LEFT)
		return;
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

	/* It will be noted there, which needn't wait for the block's memory. */
	recent_expect(&heap->recent, act->function->family, handle);
	ret->found = live_remove(&ledger->live, handle, &ret->block);
	if (!ret->found || !ledger->has_latest || ledger->latest != handle)
		return;
	ret->latest = ledger->acquisitions;
	ledger->has_latest = false;
}

void handles_collected(struct heap *heap, const struct family *family,
		       uint64_t handle, uint64_t time)
{
	struct ledger *ledger = heap_ledger(heap, family);
	struct live_block block;

	if (!live_remove(&ledger->live, handle, &block))
		return;
	if (ledger->has_latest && ledger->latest == handle)
		ledger->has_latest = false;
	handles_gone(heap, family, &block, time, GONE_REPLACED);
}

/* Somebody may have tried to release it meanwhile. */
static void hold_again(struct heap *heap, const struct family *family,
		       const struct live_block *block)
{
	recent_forget(&heap->recent, family, block->handle);
	live_add(&heap_ledger(heap, family)->live, block);
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
		hold_again(heap, act->function->family, &taken->block);
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
	handles_gone(heap, family, block, act->begin,
		     resize ? GONE_RESIZED : GONE_RELEASED);
}
