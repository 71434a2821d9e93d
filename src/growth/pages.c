/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/private.h"

/* Pages that were touched: what RSS is made of. */

static uint64_t drop(struct growth *growth, const struct range *piece)
{
	struct site_entry *entry = growth->sites[piece->block->site - 1];
	uint64_t bytes = piece->end - piece->begin;

	entry->site.gone += bytes;
	if (ranges_drop(&growth->pages, piece))
		entry->pages = NULL;
	return bytes;
}

static uint64_t drop_extent(struct growth *growth, struct extent extent)
{
	struct range_list gone = { 0 };
	uint64_t bytes = 0;

	ranges_cut(&growth->pages, extent.begin, extent.end, &gone);
	for (size_t i = 0; i < gone.count; i++)
		bytes += drop(growth, &gone.items[i]);
	range_list_fini(&gone);
	return bytes;
}

static void count_back(struct growth *growth, const struct growth_actor *actor,
		       uint64_t bytes)
{
	struct growth_total *total = &growth->totals[GROWTH_FAULTS];
	struct site_entry *entry;

	if (!bytes)
		return;
	entry = growth_entry_of(growth, GROWTH_FAULTS, actor);
	entry->site.back_calls++;
	entry->site.back += bytes;
	total->back_calls++;
	total->back += bytes;
}

/* All pages of a site are pieces of one block, so that neighbours merge. */
static void add(struct growth *growth, struct site_entry *entry,
		struct extent extent)
{
	struct range range = { extent.begin, extent.end, entry->pages };

	if (entry->pages) {
		entry->pages->pieces++;
		ranges_put_back(&growth->pages, &range);
		return;
	}
	entry->pages = ranges_add(&growth->pages, extent.begin, extent.end,
				  &(struct range_block){
					  .site = entry->site.number });
}

/* A page that was there is touched anew when it is written to for the first
   time (until then it was one of zeros), or has been swapped out. */
void growth_fault(struct growth *growth, const struct growth_fault *fault)
{
	const struct growth_actor actor = { fault->function, fault->stack,
					    fault->time };
	struct growth_total *total = &growth->totals[GROWTH_FAULTS];
	struct extent extent =
		growth_extent(fault->address, fault->size ? fault->size : 1);
	uint64_t faults = fault->faults ? fault->faults : 1;
	struct site_entry *entry =
		growth_entry_of(growth, GROWTH_FAULTS, &actor);

	total->again += drop_extent(growth, extent);
	add(growth, entry, extent);
	growth_count(growth, entry, fault->time, extent.end - extent.begin);
	entry->site.calls += faults - 1;
	total->calls += faults - 1;
}

void growth_forget_pages(struct growth *growth, struct extent extent,
			 const struct growth_actor *actor)
{
	count_back(growth, actor, drop_extent(growth, extent));
}

void growth_move_pages(struct growth *growth, const struct growth_actor *actor,
		       const struct growth_move *move)
{
	struct extent from = growth_extent(move->from, move->from_size);
	struct extent to = growth_extent(move->to, move->to_size);
	struct range_list pages = { 0 };
	uint64_t bytes;

	ranges_cut(&growth->pages, from.begin, from.end, &pages);
	bytes = drop_extent(growth, to);
	for (size_t i = 0; i < pages.count; i++) {
		struct range piece = pages.items[i], rest = piece;

		if (!growth_shift(move, &to, &piece)) {
			bytes += drop(growth, &rest);
			continue;
		}
		rest.begin += piece.end - piece.begin;
		if (rest.begin < rest.end) {
			piece.block->pieces++;
			bytes += drop(growth, &rest);
		}
		ranges_put_back(&growth->pages, &piece);
	}
	range_list_fini(&pages);
	count_back(growth, actor, bytes);
}

void growth_drop_pages(struct growth *growth,
		       const struct growth_actor *actor, taddr_t begin,
		       uint64_t size)
{
	growth_drain(growth);
	growth_forget_pages(growth, growth_extent(begin, size), actor);
}
