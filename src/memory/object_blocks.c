/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/object_blocks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/object_heap.h"
#include "memory/php_heap.h"
#include "memory/python_heap.h"
#include "memory/ruby_classes.h"
#include "memory/ruby_heap.h"

/* Where PyDictObject has its keys, and values, if they are an object's attributes;
   and PyListObject its items. */
#define DICT_KEYS   32
#define DICT_VALUES 40
#define LIST_ITEMS  24

/* In front of objects with attributes, since 3.11, are the values of these, or
   behind that a dictionary; which, is in the lowest bit since 3.12. */
#define HEAD_WITH_VALUES 32
static const size_t values_at[] = { 0, 8 };

/* So far in their block the values begin, at most. */
#define VALUES_IN 64

/* PyDictKeysObject, of a dictionary that was dropped: Python keeps those of the
   least size for new ones. Behind these words, and as many indices as there are
   places, are the entries; since 3.11 those with a text as key have no hash. */
#define LEAST_PLACES  8
#define LEAST_ENTRIES 5
#define LEAST_SHAPE   0x010303 /* log2 of the places, of their bytes; texts */

struct keys_310 {
	uint64_t references, places;
	taddr_t lookup;
	uint64_t usable, entries;
	uint8_t indices[LEAST_PLACES];
	uint64_t entry[LEAST_ENTRIES][3];
};

struct keys_311 {
	uint64_t references, shape;
	uint64_t usable, entries;
	uint8_t indices[LEAST_PLACES];
	uint64_t entry[LEAST_ENTRIES][2];
};

/* RArray, RHash, RObject and RStruct, and a table of many entries, of Ruby 3.1
   (rarray.h, internal/hash.h, robject.h, internal/struct.h, st.h). */
#define FLAG_WITHIN       0x2000 /* items, variables */
#define FLAG_SHARED       0x4000
#define FLAG_LARGE_HASH   0x8000
#define ARRAY_COUNT       16
#define ARRAY_ITEMS       32
#define HASH_TABLE        16
#define VARIABLE_COUNT    16
#define VARIABLES         24
#define TABLE_ENTRIES     48
#define SMALL_TABLE_SHIFT 20
#define SMALL_TABLE_HINTS 8 /* in front of as many entries */
#define SMALL_TABLE_ENTRY 16
#define SMALL_TABLE_COUNT 8

/* Ruby keeps what is young in pieces of its own, of which only who has them
   knows; none is larger. */
#define YOUNG_MOST (32u << 10)

/* What an object keeps apart. bytes: 0, if that is surely a block. filled: of these;
   0: all. */
struct apart {
	taddr_t address;
	uint64_t bytes, filled;
	enum block_part part;
};

struct gathering {
	struct memory *memory;
	const struct glibc *glibc;
	struct blocks pieces;
	struct glibc_part *pools;
	size_t pool_count, pool_room;
	taddr_t *objects;
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

static void add_pool(struct gathering *all, taddr_t start, taddr_t end)
{
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

static void found_pool(void *context, taddr_t start, taddr_t end)
{
	struct gathering *all = context;
	struct glibc_part *last =
		all->pool_count ? &all->pools[all->pool_count - 1] : NULL;

	all->in_pool = !is_mallocs(all->glibc, start, end);
	if (all->in_pool && last && last->end == start)
		last->end = last->whole_end = end;
	else if (all->in_pool)
		add_pool(all, start, end);
}

static void add_piece(struct gathering *all, taddr_t address, size_t size)
{
	const size_t units = (size + BLOCK_UNIT - 1) / BLOCK_UNIT;

	blocks_add(&all->pieces,
		   &(struct block){
			   .address = address,
			   .units = (uint32_t)units,
			   .behind = (uint8_t)(units * BLOCK_UNIT - size),
			   .state = BLOCK_USED,
		   });
	all->pools[all->pool_count - 1].count++;
}

static void found_piece(void *context, taddr_t address, size_t size)
{
	struct gathering *all = context;

	if (all->in_pool && size / BLOCK_UNIT < UINT32_MAX)
		add_piece(all, address, size);
}

/* ---- objects ---- */

/* Behind what it has in use is what was there before. */
static void leave_out(struct block *block, uint64_t filled)
{
	const uint64_t usable = block_usable(block);
	const uint64_t left = filled < usable ? (usable - filled) / BLOCK_UNIT :
						0;

	block->left = left <= LEFT_MOST ? left & LEFT_MOST : 0;
}

static void add_apart(struct gathering *all, taddr_t address, uint64_t bytes,
		      enum block_part part)
{
	all->apart = xgrow(all->apart, all->apart_count, &all->apart_room,
			   sizeof(*all->apart));
	all->apart[all->apart_count++] =
		(struct apart){ address, bytes, 0, part };
}

static uint64_t word_at(const struct object_found *object, size_t offset)
{
	uint64_t word = 0;

	if (offset + sizeof(word) <= object->seen)
		memcpy(&word, object->bytes + offset, sizeof(word));
	return word;
}

static void note_apart(struct gathering *all, const struct object_found *object,
		       size_t offset, enum block_part part)
{
	if (offset + sizeof(taddr_t) <= object->seen)
		add_apart(all, word_at(object, offset), 0, part);
}

static void add_object(struct gathering *all, const struct object_found *object)
{
	all->objects = xgrow(all->objects, all->object_count, &all->object_room,
			     sizeof(*all->objects));
	all->objects[all->object_count++] = object->address;
}

static void found_python(void *context, const struct object_found *object)
{
	struct gathering *all = context;

	if (!strcmp(object->type, "dict")) {
		note_apart(all, object, object->head + DICT_KEYS, BLOCK_KEYS);
		note_apart(all, object, object->head + DICT_VALUES,
			   BLOCK_VALUES);
	} else if (!strcmp(object->type, "list")) {
		note_apart(all, object, object->head + LIST_ITEMS, BLOCK_ITEMS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(values_at); i++)
		if (object->head == HEAD_WITH_VALUES)
			note_apart(all, object, values_at[i], BLOCK_VALUES);
	add_object(all, object);
}

/* A count is believed if so much can be there. */
static void note_words(struct gathering *all, taddr_t address, uint64_t count,
		       enum block_part part)
{
	add_apart(all, address,
		  count <= YOUNG_MOST / sizeof(uint64_t) ?
			  count * sizeof(uint64_t) :
			  0,
		  part);
}

static void note_hash(struct gathering *all, const struct object_found *object,
		      uint64_t flags)
{
	const taddr_t table = word_at(object, HASH_TABLE);
	taddr_t entries;

	if (!(flags & FLAG_LARGE_HASH)) {
		add_apart(all, table,
			  SMALL_TABLE_HINTS +
				  SMALL_TABLE_COUNT * SMALL_TABLE_ENTRY,
			  BLOCK_ENTRIES);
		all->apart[all->apart_count - 1].filled =
			SMALL_TABLE_HINTS +
			(flags >> SMALL_TABLE_SHIFT & 15) * SMALL_TABLE_ENTRY;
		return;
	}
	add_apart(all, table, 0, BLOCK_TABLE);
	if (!memory_read(all->memory, table + TABLE_ENTRIES, &entries,
			 sizeof(entries)))
		add_apart(all, entries, 0, BLOCK_ENTRIES);
}

/* What has just been told as a piece. */
static void leave_out_unseen(struct gathering *all,
			     const struct object_found *object)
{
	struct blocks *pieces = &all->pieces;
	struct block *last = pieces->count ? &pieces->list[pieces->count - 1] :
					     NULL;

	if (last && last->address == object->address)
		leave_out(last, object->seen);
}

static void found_ruby(void *context, const struct object_found *object)
{
	struct gathering *all = context;
	struct ruby_head head = { .flags = word_at(object, 0) };
	const enum ruby_kind kind = ruby_kind_of(&head);
	const uint64_t within =
		kind == RUBY_STRUCT ? FLAG_WITHIN | FLAG_SHARED : FLAG_WITHIN;

	add_object(all, object);
	leave_out_unseen(all, object);
	if (kind == RUBY_HASH) {
		note_hash(all, object, head.flags);
	} else if (head.flags & within) {
		return;
	} else if (kind == RUBY_ARRAY && !(head.flags & FLAG_SHARED)) {
		note_words(all, word_at(object, ARRAY_ITEMS),
			   word_at(object, ARRAY_COUNT), BLOCK_ARRAY);
	} else if (kind == RUBY_OBJECT || kind == RUBY_STRUCT) {
		note_words(all, word_at(object, VARIABLES),
			   (uint32_t)word_at(object, VARIABLE_COUNT),
			   BLOCK_VARIABLES);
	}
}

static void found_php(void *context, const struct object_found *object)
{
	struct gathering *all = context;

	add_object(all, object);
	if (object->apart)
		add_apart(all, object->apart, 0, BLOCK_ELEMENTS);
}

/* What is young is no block yet. */
static void add_young(struct gathering *all)
{
	for (size_t i = 0; i < all->apart_count; i++) {
		const struct apart *apart = &all->apart[i];
		const taddr_t end = apart->address + apart->bytes;

		if (!apart->bytes || !apart->address || apart->address % 8 ||
		    end < apart->address ||
		    is_mallocs(all->glibc, apart->address, end))
			continue;
		add_pool(all, apart->address, end);
		add_piece(all, apart->address, apart->bytes);
	}
}

/* ---- among malloc's ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct glibc_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool overlaps(const struct glibc_part *last,
		     const struct glibc_part *part)
{
	return part->start < end_of(last);
}

/* They have to be apart, whatever a process says. */
static size_t drop_overlapping(struct glibc_part *parts, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || !parts[i].objects ||
		    !overlaps(&parts[kept - 1], &parts[i]))
			parts[kept++] = parts[i];
	return kept;
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
	glibc->part_count = drop_overlapping(glibc->parts, glibc->part_count);
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
	if (apart->part == BLOCK_VALUES ? behind > VALUES_IN : behind)
		return;
	block->part = apart->part;
	if (apart->filled)
		leave_out(block, apart->filled);
}

static bool are_least(uint64_t usable, uint64_t entries)
{
	return usable <= LEAST_ENTRIES && entries <= LEAST_ENTRIES &&
	       usable + entries <= LEAST_ENTRIES;
}

/* How much of a block of that size holds something, if such keys are in it. */
static uint64_t filled_of_dropped(struct memory *memory,
				  const struct block *block)
{
	const uint64_t usable = block_usable(block);
	union {
		struct keys_310 old;
		struct keys_311 new;
	} keys;

	if (usable < sizeof(keys.new) ||
	    usable >= sizeof(keys.old) + BLOCK_UNIT ||
	    memory_read(memory, block->address, &keys, sizeof(keys.new)) ||
	    keys.new.references)
		return usable;
	if ((keys.new.shape & 0xffffff) == LEAST_SHAPE &&
	    are_least(keys.new.usable, keys.new.entries))
		return offsetof(struct keys_311, entry);
	if (usable >= sizeof(keys.old) && keys.old.places == LEAST_PLACES &&
	    keys.old.lookup && are_least(keys.old.usable, keys.old.entries))
		return offsetof(struct keys_310, entry);
	return usable;
}

/* Their entries stay there, and lead to who came after what they had. */
static void leave_out_dropped(const struct glibc *glibc, struct memory *memory)
{
	for (size_t i = 0; i < glibc->blocks.count; i++) {
		struct block *block = &glibc->blocks.list[i];

		if (block_is_used(block) && !block->object && !block->part)
			leave_out(block, filled_of_dropped(memory, block));
	}
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

static void gather(struct gathering *all, const struct mappings *mappings,
		   struct object_heap heaps[OBJECT_LANGUAGES])
{
	struct object_observer observer = {
		.pool = found_pool,
		.piece = found_piece,
		.context = all,
	};

	observer.found = found_python;
	if (python_is_there(mappings))
		python_heap_read(all->memory, mappings, &all->glibc->blocks,
				 &observer, &heaps[OBJECTS_OF_PYTHON]);
	observer.found = found_ruby;
	if (ruby_is_there(mappings))
		ruby_heap_read(all->memory, mappings, &observer,
			       &heaps[OBJECTS_OF_RUBY]);
	observer.found = found_php;
	if (php_is_there(mappings))
		php_heap_read(all->memory, mappings, &observer,
			      &heaps[OBJECTS_OF_PHP]);
	add_young(all);
}

bool object_blocks_add(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc)
{
	struct gathering all = { .memory = memory, .glibc = glibc };
	struct object_heap heaps[OBJECT_LANGUAGES] = { 0 };

	if (!object_heap_is_there(mappings))
		return false;
	blocks_init(&all.pieces);
	gather(&all, mappings, heaps);
	add_parts(glibc, &all);
	join(glibc, &all);
	mark(glibc, &all);
	if (python_is_there(mappings))
		leave_out_dropped(glibc, memory);
	object_heaps_fini(heaps);
	blocks_fini(&all.pieces);
	free(all.pools);
	free(all.objects);
	free(all.apart);
	return true;
}
