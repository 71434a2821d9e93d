/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/object_heap.h"
#include "memory/python_heap.h"
#include "memory/python_types.h"

/* Where PyDictObject has its keys, and PyListObject its items. */
#define DICT_KEYS  32
#define LIST_ITEMS 24

/* In front of objects with attributes, since 3.11, are the values of these, or
   behind that a dictionary; which, is in the lowest bit since 3.12. */
#define HEAD_WITH_VALUES 32
static const size_t values_at[] = { 0, 8 };

/* So far in their block the values begin, at most. */
#define VALUES_IN 64

/* What an object keeps apart. */
struct apart {
	taddr_t address;
	enum block_part part;
};

struct gathering {
	const struct glibc *glibc;
	struct blocks pieces;
	struct glibc_part *pools;
	size_t pool_count, pool_room;
	taddr_t *objects; /* that are blocks of malloc's */
	size_t object_count, object_room;
	struct apart *apart;
	size_t apart_count, apart_room;
	bool in_pool; /* the pool that was found last is ours */
};

/* ---- pools ---- */

/* Of musl's only the part itself is known, not what it lies in. */
static taddr_t start_of(const struct glibc_part *part)
{
	return part->start < part->whole_start ? part->start :
						 part->whole_start;
}

static taddr_t end_of(const struct glibc_part *part)
{
	return part->end > part->whole_end ? part->end : part->whole_end;
}

/* A block of malloc's may hold what looks like one. */
static bool is_mallocs(const struct glibc *glibc, taddr_t start, taddr_t end)
{
	size_t low = 0, high = glibc->part_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (end_of(&glibc->parts[middle]) <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < glibc->part_count && start_of(&glibc->parts[low]) < end;
}

static void found_pool(void *context, taddr_t start, taddr_t end)
{
	struct gathering *all = context;
	struct glibc_part *last =
		all->pool_count ? &all->pools[all->pool_count - 1] : NULL;

	all->in_pool = !(last && start < last->end) &&
		       !is_mallocs(all->glibc, start, end);
	if (!all->in_pool)
		return;
	if (last && last->end == start) {
		last->end = last->whole_end = end;
		return;
	}
	all->pools = xgrow(all->pools, all->pool_count, &all->pool_room,
			   sizeof(*all->pools));
	all->pools[all->pool_count++] = (struct glibc_part){
		.start = start,
		.end = end,
		.whole_start = start,
		.whole_end = end,
		.objects = true,
		.first = all->pieces.count,
	};
}

static void found_piece(void *context, taddr_t address, size_t size)
{
	struct gathering *all = context;

	if (!all->in_pool)
		return;
	blocks_add(&all->pieces, &(struct block){
					 .address = address,
					 .units = (uint32_t)(size / BLOCK_UNIT),
					 .state = BLOCK_USED,
				 });
	all->pools[all->pool_count - 1].count++;
}

/* ---- objects ---- */

static void note_apart(struct gathering *all, const struct object_found *object,
		       size_t offset, enum block_part part)
{
	taddr_t address;

	if (offset + sizeof(address) > object->seen)
		return;
	memcpy(&address, object->bytes + offset, sizeof(address));
	all->apart = xgrow(all->apart, all->apart_count, &all->apart_room,
			   sizeof(*all->apart));
	all->apart[all->apart_count++] = (struct apart){ address, part };
}

static void found_object(void *context, const struct object_found *object)
{
	struct gathering *all = context;

	if (!strcmp(object->type, "dict"))
		note_apart(all, object, object->head + DICT_KEYS, BLOCK_KEYS);
	else if (!strcmp(object->type, "list"))
		note_apart(all, object, object->head + LIST_ITEMS, BLOCK_ITEMS);
	for (size_t i = 0; i < ARRAY_SIZE(values_at); i++)
		if (object->head == HEAD_WITH_VALUES)
			note_apart(all, object, values_at[i], BLOCK_VALUES);
	all->objects = xgrow(all->objects, all->object_count, &all->object_room,
			     sizeof(*all->objects));
	all->objects[all->object_count++] = object->address;
}

/* ---- among malloc's ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct glibc_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_parts(struct glibc *glibc, const struct gathering *all)
{
	for (size_t i = 0; i < all->pool_count; i++) {
		glibc->parts = xgrow(glibc->parts, glibc->part_count,
				     &glibc->part_room, sizeof(*glibc->parts));
		glibc->parts[glibc->part_count++] = all->pools[i];
	}
	qsort(glibc->parts, glibc->part_count, sizeof(*glibc->parts),
	      compare_parts);
}

static void join(struct glibc *glibc, const struct gathering *all)
{
	struct blocks old = glibc->blocks;
	struct blocks joined = { .room = old.count + all->pieces.count + 1 };

	joined.list = xcalloc(joined.room, sizeof(*joined.list));
	for (size_t i = 0; i < glibc->part_count; i++) {
		struct glibc_part *part = &glibc->parts[i];
		const struct blocks *from = part->objects ? &all->pieces : &old;

		memcpy(joined.list + joined.count, from->list + part->first,
		       part->count * sizeof(*joined.list));
		part->first = joined.count;
		joined.count += part->count;
	}
	blocks_fini(&old);
	glibc->blocks = joined;
}

static void mark_apart(const struct blocks *blocks, const struct apart *apart)
{
	struct block *block = blocks_around(blocks, apart->address);
	taddr_t behind;

	if (!block || block->object || block->part)
		return;
	behind = apart->address - block->address;
	if (apart->part == BLOCK_VALUES ? behind <= VALUES_IN : !behind)
		block->part = apart->part;
}

static void mark(const struct glibc *glibc, const struct gathering *all)
{
	for (size_t i = 0; i < all->object_count; i++) {
		struct block *block =
			blocks_at(&glibc->blocks, all->objects[i]);

		if (block)
			block->object = true;
	}
	for (size_t i = 0; i < all->apart_count; i++)
		mark_apart(&glibc->blocks, &all->apart[i]);
}

bool python_blocks_add(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc)
{
	struct gathering all = { .glibc = glibc };
	const struct object_observer observer = {
		.found = found_object,
		.pool = found_pool,
		.piece = found_piece,
		.context = &all,
	};
	struct object_heap heaps[OBJECT_LANGUAGES] = { 0 };

	if (!python_is_there(mappings))
		return false;
	blocks_init(&all.pieces);
	python_heap_read(memory, mappings, &glibc->blocks, &observer,
			 &heaps[OBJECTS_OF_PYTHON]);
	add_parts(glibc, &all);
	join(glibc, &all);
	mark(glibc, &all);
	object_heaps_fini(heaps);
	blocks_fini(&all.pieces);
	free(all.pools);
	free(all.objects);
	free(all.apart);
	return true;
}
