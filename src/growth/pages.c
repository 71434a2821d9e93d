/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/private.h"

/* Pages that were touched: what RSS is made of. */

/* It isn't there any more, in the books of who had touched it. */
static uint64_t drop(struct growth *growth, uint32_t site)
{
	growth->sites[site - 1]->site.gone += GROWTH_PAGE;
	return GROWTH_PAGE;
}

static uint64_t drop_extent(struct growth *growth, struct extent extent)
{
	struct touched_pages gone = { 0 };
	uint64_t bytes = 0;

	page_table_take(&growth->pages, extent.begin, extent.end, &gone);
	for (size_t i = 0; i < gone.count; i++)
		bytes += drop(growth, gone.items[i].site);
	touched_pages_fini(&gone);
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

/* Returns the bytes of those that were there already. */
static uint64_t add(struct growth *growth, const struct site_entry *entry,
		    struct extent extent)
{
	uint64_t bytes = 0;

	for (taddr_t at = extent.begin; at < extent.end; at += GROWTH_PAGE) {
		uint32_t old =
			page_table_set(&growth->pages, at, entry->site.number);

		if (old)
			bytes += drop(growth, old);
	}
	return bytes;
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

	total->again += add(growth, entry, extent);
	growth_count(growth, entry, fault->time, extent.end - extent.begin);
	entry->site.calls += faults - 1;
	total->calls += faults - 1;
}

bool growth_fault_is_first(const struct growth *growth, taddr_t address)
{
	return !page_table_has_near(&growth->pages, address);
}

void growth_faults_in_bulk(struct growth *growth, stack_id stack, uint64_t time,
			   uint64_t faults)
{
	const struct growth_actor actor = { NULL, stack, time };
	struct site_entry *entry =
		growth_entry_of(growth, GROWTH_FAULTS, &actor);

	growth_count(growth, entry, time, faults * GROWTH_PAGE);
	entry->site.calls += faults - 1;
	growth->totals[GROWTH_FAULTS].calls += faults - 1;
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
	struct touched_pages pages = { 0 };
	uint64_t bytes;

	page_table_take(&growth->pages, from.begin, from.end, &pages);
	bytes = drop_extent(growth, to);
	for (size_t i = 0; i < pages.count; i++) {
		const struct touched_page *page = &pages.items[i];
		uint64_t offset = page->address - from.begin;

		if (offset < to.end - to.begin)
			(void)page_table_set(&growth->pages, to.begin + offset,
					     page->site);
		else
			bytes += drop(growth, page->site);
	}
	touched_pages_fini(&pages);
	count_back(growth, actor, bytes);
}

void growth_drop_pages(struct growth *growth, const struct growth_actor *actor,
		       taddr_t begin, uint64_t size)
{
	growth_drain(growth);
	growth_forget_pages(growth, growth_extent(begin, size), actor);
}
