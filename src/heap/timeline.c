/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* 17 ms: short enough for a watch of a second. Births are known to 1024 ns, and
   must not come into another interval by that: a power of two. */
#define FIRST_SHIFT 24

void timeline_cells_fini(struct timeline_cells *cells)
{
	free(cells->list);
	*cells = (struct timeline_cells){ 0 };
}

size_t timeline_cells_bytes(const struct timeline_cells *cells)
{
	return cells->room * sizeof(*cells->list);
}

uint64_t timeline_interval(const struct timeline *timeline)
{
	return UINT64_C(1) << (FIRST_SHIFT + timeline->level);
}

static uint64_t interval_of(const struct timeline *timeline, uint64_t since)
{
	return since >> (FIRST_SHIFT + timeline->level);
}

void timeline_advance(struct timeline *timeline, uint64_t since)
{
	uint64_t at;

	while ((at = interval_of(timeline, since)) >= TIMELINE_INTERVALS) {
		timeline->level++;
		timeline->count = (timeline->count + 1) / 2;
	}
	if (at >= timeline->count)
		timeline->count = at + 1;
}

static int order(const struct timeline_cell *cell, unsigned acquired,
		 unsigned gone)
{
	return (cell->acquired * 256 + cell->gone) -
	       (int)(acquired * 256 + gone);
}

/* Where the cell is, or belongs. */
static uint32_t place_of(const struct timeline_cells *cells, unsigned acquired,
			 unsigned gone)
{
	uint32_t low = 0, high = cells->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (order(&cells->list[middle], acquired, gone) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct timeline_cell *find(const struct timeline_cells *cells,
				  unsigned acquired, unsigned gone)
{
	uint32_t at = place_of(cells, acquired, gone);

	if (at == cells->count || order(&cells->list[at], acquired, gone))
		return NULL;
	return &cells->list[at];
}

static void make_room(struct timeline_cells *cells)
{
	if (cells->count < cells->room)
		return;
	cells->room = cells->room ? cells->room * 2 : 2;
	cells->list =
		xreallocarray(cells->list, cells->room, sizeof(*cells->list));
}

static void add(struct timeline_cells *cells, unsigned acquired, unsigned gone,
		uint64_t blocks, uint64_t bytes)
{
	uint32_t at = place_of(cells, acquired, gone);
	struct timeline_cell *cell;

	if (at == cells->count || order(&cells->list[at], acquired, gone)) {
		make_room(cells);
		memmove(&cells->list[at + 1], &cells->list[at],
			(cells->count++ - at) * sizeof(*cells->list));
		cells->list[at] =
			(struct timeline_cell){ acquired, gone, 0, 0 };
	}
	cell = &cells->list[at];
	cell->blocks += blocks;
	cell->bytes += bytes;
}

static unsigned later(unsigned interval, unsigned levels)
{
	return interval == TIMELINE_HELD ? interval : interval >> levels;
}

void timeline_settle(const struct timeline *timeline,
		     struct timeline_cells *cells)
{
	unsigned levels = timeline->level - cells->level;
	struct timeline_cells wide = { .level = timeline->level };

	if (!levels)
		return;
	for (uint32_t i = 0; i < cells->count; i++) {
		const struct timeline_cell *cell = &cells->list[i];

		add(&wide, later(cell->acquired, levels),
		    later(cell->gone, levels), cell->blocks, cell->bytes);
	}
	free(cells->list);
	*cells = wide;
}

void timeline_acquired(struct timeline *timeline, struct timeline_cells *cells,
		       uint64_t since, uint64_t blocks, uint64_t bytes)
{
	timeline_advance(timeline, since);
	timeline_settle(timeline, cells);
	add(cells, interval_of(timeline, since), TIMELINE_HELD, blocks, bytes);
}

static uint64_t take(uint64_t *from, uint64_t number)
{
	uint64_t taken = number < *from ? number : *from;

	*from -= taken;
	return taken;
}

void timeline_gone(struct timeline *timeline, struct timeline_cells *cells,
		   uint64_t birth, uint64_t since, uint64_t blocks,
		   uint64_t bytes)
{
	unsigned acquired, gone;
	struct timeline_cell *held;

	timeline_advance(timeline, since > birth ? since : birth);
	timeline_settle(timeline, cells);
	acquired = interval_of(timeline, birth);
	gone = interval_of(timeline, since > birth ? since : birth);
	held = find(cells, acquired, TIMELINE_HELD);
	if (!held)
		return;
	blocks = take(&held->blocks, blocks);
	bytes = take(&held->bytes, bytes);
	add(cells, acquired, gone, blocks, bytes);
}
