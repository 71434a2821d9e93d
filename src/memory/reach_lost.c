/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/reach_private.h"

/* ---- by themselves, or by others ---- */

static void found_by_lost(struct reacher *reacher, struct block *block,
			  uint64_t pointer UNUSED, taddr_t where UNUSED)
{
	const struct block *leader =
		&reacher->glibc->blocks.list[reacher->queue[0]];

	if (block->mark == REACH_LOST) {
		block->mark = REACH_INDIRECT;
		reach_push(reacher, block);
	} else if (block->mark == REACH_DEFINITE && block != leader) {
		/* All that it leads to has been seen. */
		block->mark = REACH_INDIRECT;
	}
}

void reach_sort_lost(struct reacher *reacher)
{
	struct blocks *blocks = &reacher->glibc->blocks;

	for (size_t i = 0; i < blocks->count; i++) {
		struct block *block = &blocks->list[i];

		if (block->mark != REACH_LOST || block->own ||
		    block->state != BLOCK_USED)
			continue;
		block->mark = REACH_DEFINITE;
		reacher->head = reacher->tail = 0;
		reach_push(reacher, block);
		while (reacher->head < reacher->tail)
			reach_scan_block(
				reacher,
				&blocks->list[reacher->queue[reacher->head++]],
				found_by_lost);
	}
}

/* ---- rings: Tarjan's strongly connected components ---- */

/* Blocks that are lost, numbered as they are met; 0: not yet. */
struct tarjan {
	uint32_t *order; /* of each block */
	uint32_t *low;
	bool *open; /* lies on the stack of those that have no ring yet */
	uint32_t *stack;
	size_t stack_count, stack_room;
	uint32_t met;
	struct frame {
		uint32_t block;
		size_t first, next; /* of the edges below */
	} * frames;
	size_t frame_count, frame_room;
	uint32_t *edges; /* of all blocks that are being looked at */
	size_t edge_count, edge_room;
};

static void found_edge(struct reacher *reacher, struct block *block,
		       uint64_t pointer UNUSED, taddr_t where UNUSED)
{
	struct tarjan *t = reacher->tarjan;

	if (block->mark != REACH_LOST)
		return;
	t->edges = xgrow(t->edges, t->edge_count, &t->edge_room,
			 sizeof(*t->edges));
	t->edges[t->edge_count++] =
		(uint32_t)(block - reacher->glibc->blocks.list);
}

static void enter(struct reacher *reacher, uint32_t block)
{
	struct tarjan *t = reacher->tarjan;
	const size_t first = t->edge_count;

	t->order[block] = t->low[block] = ++t->met;
	t->open[block] = true;
	t->stack = xgrow(t->stack, t->stack_count, &t->stack_room,
			 sizeof(*t->stack));
	t->stack[t->stack_count++] = block;
	reach_scan_block(reacher, &reacher->glibc->blocks.list[block],
			 found_edge);
	t->frames = xgrow(t->frames, t->frame_count, &t->frame_room,
			  sizeof(*t->frames));
	t->frames[t->frame_count++] = (struct frame){ block, first, first };
}

/* All from a block on, on the stack, are one ring: if they are several. */
static void close_ring(struct reacher *reacher, uint32_t block)
{
	struct tarjan *t = reacher->tarjan;
	struct reach_result *result = reacher->result;
	struct reach_ring ring = { .first = UINT64_MAX };
	uint32_t member;

	do {
		const struct block *one;

		member = t->stack[--t->stack_count];
		one = &reacher->glibc->blocks.list[member];
		t->open[member] = false;
		ring.blocks++;
		ring.bytes += block_usable(one);
		if (one->address < ring.first)
			ring.first = one->address;
	} while (member != block);
	if (ring.blocks < 2)
		return;
	result->rings = xgrow(result->rings, result->ring_count,
			      &result->ring_room, sizeof(*result->rings));
	result->rings[result->ring_count++] = ring;
}

static void lower(struct tarjan *t, uint32_t block, uint32_t to)
{
	if (to < t->low[block])
		t->low[block] = to;
}

/*
 * One step of the search, which has a stack of its own, for rings are long.
 * Edges of a block lie on top of those of the one that led to it.
 */
static void step(struct reacher *reacher)
{
	struct tarjan *t = reacher->tarjan;
	struct frame *frame = &t->frames[t->frame_count - 1];
	const uint32_t block = frame->block;

	if (frame->next < t->edge_count) {
		const uint32_t next = t->edges[frame->next++];

		if (!t->order[next])
			enter(reacher, next);
		else if (t->open[next])
			lower(t, block, t->order[next]);
		return;
	}
	t->edge_count = frame->first;
	if (t->low[block] == t->order[block])
		close_ring(reacher, block);
	if (--t->frame_count)
		lower(t, t->frames[t->frame_count - 1].block, t->low[block]);
}

static int compare_rings(const void *a, const void *b)
{
	const struct reach_ring *x = a, *y = b;

	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void free_tarjan(struct tarjan *t)
{
	free(t->order);
	free(t->low);
	free(t->open);
	free(t->stack);
	free(t->frames);
	free(t->edges);
}

void reach_find_rings(struct reacher *reacher)
{
	const struct blocks *blocks = &reacher->glibc->blocks;
	struct tarjan t = {
		.order = xcalloc(blocks->count + 1, sizeof(*t.order)),
		.low = xcalloc(blocks->count + 1, sizeof(*t.low)),
		.open = xcalloc(blocks->count + 1, sizeof(*t.open)),
	};

	reacher->tarjan = &t;
	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];

		if (block->mark != REACH_LOST || block->own ||
		    block->state != BLOCK_USED || t.order[i])
			continue;
		enter(reacher, (uint32_t)i);
		while (t.frame_count)
			step(reacher);
	}
	if (reacher->result->ring_count)
		qsort(reacher->result->rings, reacher->result->ring_count,
		      sizeof(*reacher->result->rings), compare_rings);
	free_tarjan(&t);
}
