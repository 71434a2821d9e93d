/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/glibc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/glibc_private.h"

void glibc_add_part(struct glibc *glibc, const struct glibc_part *part)
{
	glibc->parts = xgrow(glibc->parts, glibc->part_count, &glibc->part_room,
			     sizeof(*glibc->parts));
	glibc->parts[glibc->part_count++] = *part;
}

static int compare_parts(const void *a, const void *b)
{
	const struct glibc_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether no two parts share memory: blocks are looked up by address. */
static void drop_overlaps(struct glibc *glibc)
{
	size_t kept = 0;

	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		if (kept && glibc->parts[kept - 1].end > part->start) {
			if (part->mapped)
				continue;
			glibc->arenas[part->arena].trouble = part->start;
			glibc->arenas[part->arena].why =
				"it lies in another arena";
			continue;
		}
		glibc->parts[kept++] = *part;
	}
	glibc->part_count = kept;
}

static void mark_row(const struct mappings *mappings,
		     const struct glibc_part *part)
{
	const struct mapping *end = mappings->list + mappings->count;
	struct mapping *mapping = mappings_find(mappings, part->whole_start);

	for (; mapping && mapping < end && mapping->start < part->whole_end;
	     mapping++)
		if (mapping->kind == MAPPING_ANONYMOUS ||
		    mapping->kind == MAPPING_STACK)
			mapping->kind = MAPPING_ARENA;
}

static void mark_mappings(const struct glibc *glibc,
			  const struct mappings *mappings)
{
	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		if (part->mapped || glibc->arenas[part->arena].main)
			continue;
		mark_row(mappings, part);
	}
}

static void count_blocks(struct glibc *glibc)
{
	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];
		struct glibc_arena *arena = &glibc->arenas[part->arena];

		for (size_t b = 0; !part->mapped && b < part->count; b++) {
			const struct block *block =
				&glibc->blocks.list[part->first + b];

			arena->count[block->state]++;
			arena->bytes[block->state] += block_bytes(block);
		}
		if (part->mapped) {
			glibc->found_maps++;
			glibc->found_map_bytes +=
				part->whole_end - part->whole_start;
		}
	}
}

static void read_all(struct window *window, struct memory *memory,
		     struct mappings *mappings, struct glibc *glibc)
{
	blocks_init(&glibc->blocks);
	for (size_t i = 0; i < glibc->arena_count; i++)
		if (!glibc_find_parts(memory, mappings, glibc, i) &&
		    !glibc->arenas[i].why) {
			glibc->arenas[i].trouble = glibc->arenas[i].address;
			glibc->arenas[i].why = "its parts weren't found";
		}
	mark_mappings(glibc, mappings);
	if (glibc->map_count || !glibc->known_totals)
		glibc_find_maps(window, mappings, glibc);
	if (!glibc->part_count)
		return;
	qsort(glibc->parts, glibc->part_count, sizeof(*glibc->parts),
	      compare_parts);
	drop_overlaps(glibc);
	for (size_t i = 0; i < glibc->part_count; i++)
		glibc_walk(window, glibc, &glibc->parts[i]);
	glibc_mark_lists(window, glibc);
	count_blocks(glibc);
}

int glibc_read(struct memory *memory, struct mappings *mappings,
	       struct glibc *ret)
{
	struct window *window = xmalloc(sizeof(*window));

	*ret = (struct glibc){ .arenas = NULL };
	window_init(window, memory);
	glibc_find_arenas(memory, mappings, ret);
	if (ret->arena_count)
		read_all(window, memory, mappings, ret);
	free(window);
	return ret->arena_count ? 0 : -ENOENT;
}

void glibc_fini(struct glibc *glibc)
{
	blocks_fini(&glibc->blocks);
	free(glibc->arenas);
	free(glibc->parts);
	free(glibc->coming);
	*glibc = (struct glibc){ .arenas = NULL };
}

bool glibc_is_understood(const struct glibc *glibc)
{
	for (size_t i = 0; i < glibc->arena_count; i++)
		if (glibc->arenas[i].why)
			return false;
	return !glibc->bad_lists &&
	       (!glibc->known_totals ||
		(glibc->found_maps == glibc->map_count &&
		 glibc->found_map_bytes == glibc->map_bytes));
}
