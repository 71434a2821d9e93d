/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/mallocng.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/mallocng_private.h"

#define PAGE 4096

/* Those that others lie in come first. */
static int compare_groups(const void *a, const void *b)
{
	const struct ng_group *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void add_part(struct ng_heap *ng, const struct ng_group *group)
{
	struct glibc *heap = ng->heap;
	const taddr_t end = group->address + group->size;

	heap->parts = xgrow(heap->parts, heap->part_count, &heap->part_room,
			    sizeof(*heap->parts));
	heap->parts[heap->part_count++] = (struct glibc_part){
		.start = group->address + GROUP_HEAD,
		.end = end,
		.whole_start = group->address,
		.whole_end = end,
		.mapped = group->mapped,
	};
	if (group->mapped) {
		heap->found_maps++;
		heap->found_map_bytes += group->size;
	} else {
		heap->arenas[0].system_bytes += group->size;
	}
}

/* A group lies in a slot of another one, or apart from all others. */
static void find_parts(struct ng_heap *ng)
{
	taddr_t start = 0, end = 0;

	for (size_t i = 0; i < ng->count; i++) {
		struct ng_group *group = &ng->groups[i];
		const taddr_t behind = group->address + group->size;

		if (group->address >= end) {
			start = group->address;
			end = behind;
			add_part(ng, group);
		} else if (group->address == start || behind > end ||
			   group->mapped) {
			mallocng_set_trouble(ng, group->address,
					     "it lies in another group");
			group->slots = 0;
		}
	}
}

/* Blocks are looked up by address. */
static void drop_overlaps(struct ng_heap *ng)
{
	struct blocks *blocks = &ng->heap->blocks;
	taddr_t end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];

		if (block->address < end) {
			mallocng_set_trouble(ng, block->address,
					     "a block lies in another");
			continue;
		}
		end = block->address + block_bytes(block);
		blocks->list[kept++] = *block;
	}
	blocks->count = kept;
}

static void share_out(struct glibc *heap)
{
	size_t at = 0;

	for (size_t i = 0; i < heap->part_count; i++) {
		struct glibc_part *part = &heap->parts[i];

		part->first = at;
		while (at < heap->blocks.count &&
		       heap->blocks.list[at].address < part->end)
			at++;
		part->count = at - part->first;
	}
}

/* In what isn't understood there may be blocks that hold others: then all of it
   is looked through, as if it weren't the allocator's. */
static void open_up(struct glibc *heap)
{
	for (size_t i = 0; i < heap->part_count; i++)
		heap->parts[i].whole_end = heap->parts[i].whole_start;
}

/* The kernel joins mappings: one in which there is anything else isn't the heap's. */
static void mark_mappings(const struct glibc *heap,
			  const struct mappings *mappings)
{
	const taddr_t pages = ~(taddr_t)(PAGE - 1);
	const struct mapping *last = NULL;
	taddr_t covered = 0;

	for (size_t i = 0; i < heap->part_count; i++) {
		const struct glibc_part *part = &heap->parts[i];
		struct mapping *mapping =
			mappings_find(mappings, part->whole_start);

		if (!mapping || mapping->kind != MAPPING_ANONYMOUS)
			continue;
		if (mapping != last)
			covered = mapping->start;
		last = mapping;
		if ((part->whole_start & pages) <= covered)
			covered = (part->whole_end + PAGE - 1) & pages;
		if (covered >= mapping->end)
			mapping->kind = MAPPING_ARENA;
	}
}

static void read_all(struct ng_heap *ng, const struct mappings *mappings)
{
	struct blocks *blocks = &ng->heap->blocks;

	if (!ng->count)
		return;
	qsort(ng->groups, ng->count, sizeof(*ng->groups), compare_groups);
	find_parts(ng);
	window_forget(ng->window);
	for (size_t i = 0; i < ng->count; i++)
		mallocng_read_slots(ng, &ng->groups[i]);
	if (blocks->count)
		qsort(blocks->list, blocks->count, sizeof(*blocks->list),
		      compare_blocks);
	drop_overlaps(ng);
	share_out(ng->heap);
	if (ng->heap->arenas[0].why)
		open_up(ng->heap);
	else
		mark_mappings(ng->heap, mappings);
}

int mallocng_read(struct memory *memory, const struct mappings *mappings,
		  struct glibc *ret)
{
	struct window *window = xmalloc(sizeof(*window));
	struct ng_heap ng = { .window = window, .heap = ret };
	bool found;

	*ret = (struct glibc){ .arenas = NULL };
	window_init(window, memory);
	found = mallocng_find(memory, mappings, &ng);
	if (found) {
		ret->musl = true;
		blocks_init(&ret->blocks);
		read_all(&ng, mappings);
	}
	free(ng.groups);
	free(window);
	return found ? 0 : -ENOENT;
}
