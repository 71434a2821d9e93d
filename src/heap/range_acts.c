/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

static uint64_t round_up(const struct family *family, uint64_t address)
{
	uint64_t low = family->granularity - 1;

	return address > UINT64_MAX - low ? ~low : (address + low) & ~low;
}

/* Whole units: the kernel gives pages, whatever was asked for. */
static void align(const struct family *family, uint64_t begin, uint64_t size,
		  uint64_t *begin_ret, uint64_t *end_ret)
{
	uint64_t end;

	if (__builtin_add_overflow(begin, size, &end))
		end = UINT64_MAX;
	*begin_ret = begin & ~(family->granularity - 1);
	*end_ret = round_up(family, end);
}

static void drop(struct heap *heap, const struct range *piece, uint64_t time,
		 enum gone why)
{
	struct range_block block = *piece->block;
	struct site *site = heap->sites.all[block.site - 1];
	struct ledger *ledger = heap_ledger(heap, site->function->family);
	bool is_latest = piece->block == ledger->latest_block;
	bool last = ranges_drop(&ledger->ranges, piece);

	if (last && is_latest)
		ledger->latest_block = NULL;
	if (last)
		heap->live_count--;
	heap_count_gone(heap, site, time, heap->options.start + block.birth,
			piece->end - piece->begin, last, why);
}

static void add(struct heap *heap, const struct heap_act *act, uint64_t begin,
		uint64_t end)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);
	struct site *site = heap_site_of(heap, act);

	ledger->latest_block =
		ranges_add(&ledger->ranges, begin, end,
			   &(struct range_block){
				   .birth = heap_since(heap, act->end),
				   .size = end - begin,
				   .site = site->number,
				   .thread = heap_thread(heap, act->tid),
			   });
	heap->live_count++;
	heap_count_acquired(heap, site, act, heap_thread(heap, act->tid),
			    end - begin, &WEIGHT_OF_ONE);
}

/* What is mapped over (MAP_FIXED) is gone. */
static void acquire(struct heap *heap, const struct heap_act *act,
		    uint64_t begin, uint64_t end)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);
	struct range_list over = { 0 };

	if (begin >= end)
		return;
	ranges_cut(&ledger->ranges, begin, end, &over);
	for (size_t i = 0; i < over.count; i++)
		drop(heap, &over.items[i], act->end, GONE_REPLACED);
	ledger->total.replaced += over.count != 0;
	range_list_fini(&over);
	ledger->latest_block = NULL;
	if (act->unkept)
		ledger->total.unkept++;
	else if (heap->live_count >= heap->options.limits.blocks)
		ledger->total.dropped++;
	else
		add(heap, act, begin, end);
}

void range_acts_acquire(struct heap *heap, const struct heap_act *act)
{
	uint64_t begin, end;

	align(act->function->family, act->handle, act->size, &begin, &end);
	acquire(heap, act, begin, end);
}

void range_acts_take(struct heap *heap, const struct heap_act *act,
		     uint64_t begin, uint64_t size, struct taken *ret)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);
	uint64_t end;

	align(act->function->family, begin, size, &begin, &end);
	ranges_cut(&ledger->ranges, begin, end, &ret->pieces);
	ret->found = ret->pieces.count > 0;
	ret->latest_block = ledger->latest_block;
}

/* Where another range is by now, the piece's own release was not seen. */
void range_acts_put_back(struct heap *heap, const struct heap_act *act,
			 struct taken *taken)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);
	struct range_list over = { 0 };

	for (size_t i = 0; i < taken->pieces.count; i++) {
		const struct range *piece = &taken->pieces.items[i];

		ranges_cut(&ledger->ranges, piece->begin, piece->end, &over);
		if (!over.count) {
			ranges_put_back(&ledger->ranges, piece);
			continue;
		}
		for (size_t j = 0; j < over.count; j++)
			ranges_put_back(&ledger->ranges, &over.items[j]);
		over.count = 0;
		ledger->total.reused++;
		drop(heap, piece, act->end, GONE_REPLACED);
	}
	range_list_fini(&over);
	range_list_fini(&taken->pieces);
	taken->found = false;
}

void range_acts_settle(struct heap *heap, const struct heap_act *act,
		       struct taken *taken)
{
	struct heap_total *total =
		&heap_ledger(heap, act->function->family)->total;
	bool resize = act->function->act == FAMILY_RESIZE;

	if (!taken->found && resize)
		total->unknown_resizes++;
	else if (!taken->found)
		total->unknown_frees++;
	for (size_t i = 0; i < taken->pieces.count; i++) {
		const struct range *piece = &taken->pieces.items[i];
		const struct range_block *block = piece->block;
		struct site *site = heap->sites.all[block->site - 1];

		heap_judge_release(heap, act, site, piece->begin,
				   piece->end - piece->begin);
		if (block == taken->latest_block && block->pieces == 1 &&
		    !resize)
			heap_count_temporary(heap, site, block->size);
		drop(heap, piece, act->begin,
		     resize ? GONE_RESIZED : GONE_RELEASED);
	}
	range_list_fini(&taken->pieces);
}

static void release(struct heap *heap, const struct heap_act *act,
		    uint64_t begin, uint64_t end)
{
	struct ledger *ledger = heap_ledger(heap, act->function->family);
	struct taken taken = { .latest_block = ledger->latest_block };

	ranges_cut(&ledger->ranges, begin, end, &taken.pieces);
	taken.found = taken.pieces.count > 0;
	range_acts_settle(heap, act, &taken);
}

/* Of the first move that doesn't say from where, only the end is learnt. */
void range_acts_move(struct heap *heap, const struct heap_act *act)
{
	const struct family_function *function = act->function;
	struct ledger *ledger = heap_ledger(heap, function->family);
	bool from_known = function->old.kind != OPERAND_NONE;
	uint64_t from = from_known ? act->old : ledger->end;
	uint64_t to = function->handle.kind != OPERAND_NONE ?
			      act->handle :
			      act->old + act->size;

	/* The kernel answers with the end as it is, the C library: done. */
	if (!to && !from_known)
		return;
	if (!from_known && !ledger->end_known) {
		ledger->total.unknown_resizes++;
		from = to;
	}
	ledger->end = to;
	ledger->end_known = true;
	from = round_up(function->family, from);
	to = round_up(function->family, to);
	if (to > from)
		acquire(heap, act, from, to);
	else if (to < from)
		release(heap, act, to, from);
}
