/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/private.h"

/* The data segment and mappings: what VIRT is made of. */

static void add(struct growth *growth, struct extent extent, uint32_t site)
{
	if (extent.begin < extent.end)
		ranges_add(&growth->memory, extent.begin, extent.end,
			   &(struct range_block){
				   .size = extent.end - extent.begin,
				   .site = site,
			   });
}

void growth_add_before(struct growth *growth, taddr_t begin, taddr_t end)
{
	struct extent extent =
		growth_extent(begin, end > begin ? end - begin : 0);
	struct range_list over = { 0 };

	ranges_cut(&growth->memory, extent.begin, extent.end, &over);
	for (size_t i = 0; i < over.count; i++)
		ranges_drop(&growth->memory, &over.items[i]);
	range_list_fini(&over);
	add(growth, extent, 0);
}

/* Bytes that are gone, in the books of who had mapped them. Returns them. */
static uint64_t drop(struct growth *growth, const struct range *piece,
		     struct growth_total *total)
{
	uint64_t bytes = piece->end - piece->begin;
	uint32_t site = piece->block->site;

	if (site)
		growth->sites[site - 1]->site.gone += bytes;
	else
		total->back_before += bytes;
	total->back += bytes;
	ranges_drop(&growth->memory, piece);
	return bytes;
}

static uint64_t drop_all(struct growth *growth, struct range_list *taken,
			 struct growth_total *total)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < taken->count; i++)
		bytes += drop(growth, &taken->items[i], total);
	range_list_fini(taken);
	return bytes;
}

/* A call that has given back. */
static void count_back(struct growth *growth, enum growth_kind kind,
		       const struct growth_actor *actor, uint64_t bytes)
{
	struct site_entry *entry = growth_entry_of(growth, kind, actor);

	entry->site.back_calls++;
	entry->site.back += bytes;
	growth->totals[kind].back_calls++;
}

/* What is there already is mapped over. */
static void clear(struct growth *growth, const struct growth_actor *actor,
		  struct extent extent)
{
	struct growth_total *total = &growth->totals[GROWTH_MMAP];
	struct range_list over = { 0 };

	ranges_cut(&growth->memory, extent.begin, extent.end, &over);
	if (over.count)
		growth_forget_pages(growth, extent, actor);
	total->replaced += drop_all(growth, &over, total);
}

/* ---- the data segment ---- */

void growth_set_break(struct growth *growth, taddr_t start, taddr_t end)
{
	growth->break_start = start;
	growth->break_end = growth_extent(end, 0).end;
}

static void shrink_break(struct growth *growth,
			 const struct growth_actor *actor, struct extent gone)
{
	struct range_list taken = { 0 };
	uint64_t bytes;

	growth_take(growth, gone.begin, gone.end - gone.begin, &taken);
	growth_forget_pages(growth, gone, actor);
	bytes = drop_all(growth, &taken, &growth->totals[GROWTH_HEAP]);
	count_back(growth, GROWTH_HEAP, actor, bytes);
}

void growth_move_break(struct growth *growth, const struct growth_actor *actor,
		       taddr_t end)
{
	taddr_t new = growth_extent(end, 0).end, old = growth->break_end;
	struct site_entry *entry;

	growth->break_end = new;
	if (!old)
		old = new;
	if (new < old) {
		shrink_break(growth, actor, (struct extent){ new, old });
		return;
	}
	clear(growth, actor, (struct extent){ old, new });
	entry = growth_entry_of(growth, GROWTH_HEAP, actor);
	add(growth, (struct extent){ old, new }, entry->site.number);
	growth_count(growth, entry, actor->time, new - old);
}

/* ---- mappings ---- */

void growth_map(struct growth *growth, const struct growth_actor *actor,
		taddr_t begin, uint64_t size)
{
	struct extent extent = growth_extent(begin, size);
	struct site_entry *entry = growth_entry_of(growth, GROWTH_MMAP, actor);

	clear(growth, actor, extent);
	add(growth, extent, entry->site.number);
	growth_count(growth, entry, actor->time, extent.end - extent.begin);
}

void growth_take(struct growth *growth, taddr_t begin, uint64_t size,
		 struct range_list *ret)
{
	struct extent extent = growth_extent(begin, size);

	growth_drain(growth);
	ranges_cut(&growth->memory, extent.begin, extent.end, ret);
}

/* Where something is mapped by now, the piece's own end was not seen. */
void growth_put_back(struct growth *growth, struct range_list *taken)
{
	struct growth_total *total = &growth->totals[GROWTH_MMAP];
	struct range_list over = { 0 };

	for (size_t i = 0; i < taken->count; i++) {
		const struct range *piece = &taken->items[i];

		ranges_cut(&growth->memory, piece->begin, piece->end, &over);
		for (size_t k = 0; k < over.count; k++)
			ranges_put_back(&growth->memory, &over.items[k]);
		if (over.count)
			drop(growth, piece, total);
		else
			ranges_put_back(&growth->memory, piece);
		over.count = 0;
	}
	range_list_fini(&over);
	range_list_fini(taken);
}

void growth_unmap(struct growth *growth, const struct growth_actor *actor,
		  taddr_t begin, uint64_t size, struct range_list *taken)
{
	struct growth_total *total = &growth->totals[GROWTH_MMAP];
	struct extent extent = growth_extent(begin, size);
	uint64_t bytes;

	growth_forget_pages(growth, extent, actor);
	bytes = drop_all(growth, taken, total);
	count_back(growth, GROWTH_MMAP, actor, bytes);
	total->unknown += extent.end - extent.begin - bytes;
}

/* ---- mappings that move ---- */

/* Where a piece of what has moved to an extent lies there, cut where that ends;
   false when nothing is left of it. */
static bool shift(const struct growth_move *move, const struct extent *to,
		  struct range *piece)
{
	uint64_t offset = piece->begin - growth_extent(move->from, 0).begin;
	uint64_t length = piece->end - piece->begin;
	uint64_t room = to->end - to->begin;

	if (offset >= room)
		return false;
	piece->begin = to->begin + offset;
	piece->end = piece->begin +
		     (length < room - offset ? length : room - offset);
	return true;
}

/* Returns how much of it is left behind. */
static uint64_t settle(struct growth *growth, const struct growth_move *move,
		       const struct extent *to, struct range_list *taken)
{
	struct growth_total *total = &growth->totals[GROWTH_MMAP];
	uint64_t left = 0;

	for (size_t i = 0; i < taken->count; i++) {
		struct range piece = taken->items[i], rest = piece;

		if (!shift(move, to, &piece)) {
			left += drop(growth, &rest, total);
			continue;
		}
		rest.begin += piece.end - piece.begin;
		if (rest.begin < rest.end) {
			piece.block->pieces++;
			left += drop(growth, &rest, total);
		}
		ranges_put_back(&growth->memory, &piece);
	}
	range_list_fini(taken);
	return left;
}

void growth_remap(struct growth *growth, const struct growth_actor *actor,
		  const struct growth_move *move, struct range_list *taken)
{
	struct extent from = growth_extent(move->from, move->from_size);
	struct extent to = growth_extent(move->to, move->to_size);
	uint64_t old = from.end - from.begin, new = to.end - to.begin;

	clear(growth, actor, to);
	growth_move_pages(growth, actor, move);
	if (new < old) {
		count_back(growth, GROWTH_MMAP, actor,
			   settle(growth, move, &to, taken));
		return;
	}
	settle(growth, move, &to, taken);
	if (new > old) {
		struct site_entry *entry =
			growth_entry_of(growth, GROWTH_MMAP, actor);

		add(growth, (struct extent){ to.begin + old, to.end },
		    entry->site.number);
		growth_count(growth, entry, actor->time, new - old);
	}
}
