/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/graph.h"

#include <stdlib.h>

#include "memory/kept_graph.h"
#include "memory/object_links.h"
#include "memory/reach_private.h"

struct graph_walk {
	struct reacher reacher; /* first: what is found comes with it */
	const struct block *from;
	const struct reach_rule *rule; /* or NULL */
	graph_found *found;
	void *context;
};

static void found_pointer(struct reacher *reacher, struct block *block,
			  uint64_t pointer, taddr_t where)
{
	struct graph_walk *walk = (struct graph_walk *)reacher;
	struct pointer found = {
		.from = walk->from,
		.where = where,
		.to = block,
		.kind = POINTER_BEGINNING,
	};

	if (reach_passes_over(walk->rule, block, pointer, where))
		return;
	if (pointer != block->address)
		found.kind = reach_is_usual(reacher, block, pointer) ?
				     POINTER_USUAL :
				     POINTER_MIDDLE;
	walk->found(walk->context, &found);
}

/* Pieces of an interpreter's pools that nothing leads to are no blocks, but hold what
   they point at, as all memory does that isn't understood (reach.c). */
static void walk_pieces(struct graph_walk *walk)
{
	const struct glibc *glibc = walk->reacher.glibc;

	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];
		const struct block *block = &glibc->blocks.list[part->first];
		const struct block *end = block + part->count;

		for (; part->objects && block < end; block++)
			if (block->own)
				reach_scan_block(&walk->reacher, block,
						 found_pointer);
	}
}

static void walk_picture(const struct leaks *leaks, graph_found *found,
			 void *context)
{
	const struct blocks *blocks = &leaks->glibc.blocks;
	struct reach_result unused = { .rings = NULL };
	struct graph_walk walk = {
		.reacher = {
			.picture = &leaks->picture,
			.mappings = &leaks->mappings,
			/* Nothing of it is changed. */
			.glibc = (struct glibc *)&leaks->glibc,
			.result = &unused,
		},
		.rule = object_links_rule(leaks->links),
		.found = found,
		.context = context,
	};

	finder_init(&walk.reacher.finder, &leaks->glibc);
	reach_scan_roots(&walk.reacher, &leaks->freeze, found_pointer);
	walk_pieces(&walk);
	for (size_t i = 0; i < blocks->count; i++) {
		walk.from = &blocks->list[i];
		if (block_is_used(walk.from))
			reach_scan_block(&walk.reacher, walk.from,
					 found_pointer);
	}
	finder_fini(&walk.reacher.finder);
}

void graph_walk(const struct leaks *leaks, graph_found *found, void *context)
{
	if (leaks->kept)
		kept_graph_walk(leaks->kept, &leaks->glibc.blocks, found,
				context);
	else
		walk_picture(leaks, found, context);
}
