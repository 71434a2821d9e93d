/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void range_list_fini(struct range_list *list)
{
	free(list->items);
	*list = (struct range_list){ 0 };
}

static void list_append(struct range_list *list, const struct range *range)
{
	list->items = xgrow(list->items, list->count, &list->room,
			    sizeof(*list->items));
	list->items[list->count++] = *range;
}

void ranges_fini(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->live.count; i++) {
		struct range_block *block = ranges->live.items[i].block;

		if (--block->pieces == 0)
			free(block);
	}
	range_list_fini(&ranges->live);
	*ranges = (struct ranges){ 0 };
}

/* The first range that ends behind the address. */
static size_t first_behind(const struct range_list *list, uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Room for one more at the index. */
static struct range *open_gap(struct range_list *list, size_t index)
{
	list->items = xgrow(list->items, list->count, &list->room,
			    sizeof(*list->items));
	memmove(list->items + index + 1, list->items + index,
		(list->count - index) * sizeof(*list->items));
	list->count++;
	return &list->items[index];
}

static void close_gap(struct range_list *list, size_t index, size_t count)
{
	if (!count)
		return;
	memmove(list->items + index, list->items + index + count,
		(list->count - index - count) * sizeof(*list->items));
	list->count -= count;
}

/* A range that holds the address becomes two. */
static void split_at(struct range_list *list, uint64_t address)
{
	size_t index = first_behind(list, address);
	struct range *range;

	if (index == list->count || list->items[index].begin >= address)
		return;
	range = open_gap(list, index);
	range[0].end = address;
	range[1].begin = address;
	range->block->pieces++;
}

void ranges_cut(struct ranges *ranges, uint64_t begin, uint64_t end,
		struct range_list *ret)
{
	struct range_list *live = &ranges->live;
	size_t first, last;

	if (begin >= end)
		return;
	split_at(live, begin);
	split_at(live, end);
	first = first_behind(live, begin);
	for (last = first; last < live->count && live->items[last].begin < end;
	     last++)
		list_append(ret, &live->items[last]);
	close_gap(live, first, last - first);
}

static size_t insert(struct ranges *ranges, const struct range *range)
{
	size_t index = first_behind(&ranges->live, range->begin);

	*open_gap(&ranges->live, index) = *range;
	return index;
}

struct range_block *ranges_add(struct ranges *ranges, uint64_t begin,
			       uint64_t end, const struct range_block *block)
{
	struct range range = { begin, end, xmalloc(sizeof(*block)) };

	*range.block = *block;
	range.block->pieces = 1;
	insert(ranges, &range);
	ranges->blocks++;
	return range.block;
}

/* Two neighbours of one block become one. */
static void merge_at(struct ranges *ranges, size_t index)
{
	struct range *range = &ranges->live.items[index];

	if (!index || index >= ranges->live.count ||
	    range[-1].block != range->block || range[-1].end != range->begin)
		return;
	range[-1].end = range->end;
	range->block->pieces--;
	close_gap(&ranges->live, index, 1);
}

void ranges_put_back(struct ranges *ranges, const struct range *piece)
{
	size_t index = insert(ranges, piece);

	merge_at(ranges, index + 1);
	merge_at(ranges, index);
}

bool ranges_drop(struct ranges *ranges, const struct range *piece)
{
	if (--piece->block->pieces)
		return false;
	free(piece->block);
	ranges->blocks--;
	return true;
}

size_t ranges_bytes(const struct ranges *ranges)
{
	return ranges->live.room * sizeof(struct range) +
	       ranges->blocks * sizeof(struct range_block);
}
