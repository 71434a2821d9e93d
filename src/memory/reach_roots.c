/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/reach_private.h"

/* Where a program's pointers begin: all that it can read and isn't the
   allocator's; of stacks, what is in use. */

/* A function may keep values so far below the stack pointer (x86-64 ABI;
   others know of no such thing). */
#define RED_ZONE 128

/* The vector of a thread's thread-local blocks is pointed at an element past
   its beginning. */
#define TCB_VECTOR  8
#define VECTOR_BACK 16

static taddr_t sp_of(const struct frozen_task *task)
{
	const struct arch_ops *arch = task->known ? arch_of_regs(&task->regs) :
						    NULL;

	return arch ? arch->sp(&task->regs) : 0;
}

/* Of all tasks, the lowest first: both these and mappings may be ten thousands. */
struct stack_pointers {
	taddr_t *list;
	size_t count;
};

static int compare_addresses(const void *a, const void *b)
{
	const taddr_t x = *(const taddr_t *)a, y = *(const taddr_t *)b;

	return x < y ? -1 : x > y;
}

static struct stack_pointers sort_sps(const struct freeze *frozen)
{
	struct stack_pointers sps = {
		.list = xcalloc(frozen->count + 1, sizeof(*sps.list)),
		.count = frozen->count,
	};

	for (size_t i = 0; i < sps.count; i++)
		sps.list[i] = sp_of(&frozen->tasks[i]);
	qsort(sps.list, sps.count, sizeof(*sps.list), compare_addresses);
	return sps;
}

/* The lowest stack pointer in a mapping, or its end. */
static taddr_t lowest_sp(const struct mapping *mapping,
			 const struct stack_pointers *sps)
{
	size_t low = 0, high = sps->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (sps->list[middle] < mapping->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sps->count && sps->list[low] < mapping->end ?
		       sps->list[low] :
		       mapping->end;
}

/* ---- less what is the allocator's ---- */

struct hole {
	taddr_t start, end;
};

static void lower(struct hole *hole, taddr_t from, taddr_t start, taddr_t end)
{
	if (end <= from || start >= hole->start)
		return;
	*hole = (struct hole){ start, end };
}

/* The first hole that ends behind from: parts are sorted, arenas are few. */
static struct hole next_hole(const struct glibc *glibc, taddr_t from)
{
	struct hole hole = { UINT64_MAX, UINT64_MAX };
	size_t low = 0, high = glibc->part_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (glibc->parts[middle].whole_end <= from)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < glibc->part_count)
		lower(&hole, from, glibc->parts[low].whole_start,
		      glibc->parts[low].whole_end);
	for (size_t i = 0; i < glibc->arena_count; i++)
		lower(&hole, from, glibc->arenas[i].address,
		      glibc->arenas[i].address + glibc->arenas[i].size);
	return hole;
}

static void scan_less_holes(struct reacher *reacher, taddr_t start, taddr_t end,
			    reach_found *found)
{
	while (start < end) {
		const struct hole hole = next_hole(reacher->glibc, start);
		const taddr_t until = hole.start < end ? hole.start : end;

		if (until > start) {
			reach_scan(reacher, start, until, found);
			reacher->result->root_bytes += until - start;
		}
		if (hole.start >= end)
			break;
		start = hole.end > start ? hole.end : start + 8;
	}
}

/* ---- registers ---- */

static void look_at(struct reacher *reacher, uint64_t word, reach_found *found)
{
	const uint64_t address = word & ~reacher->mappings->tags;
	struct block *block = finder_look(&reacher->finder, address);

	if (block)
		found(reacher, block, address, 0);
}

static void scan_words(struct reacher *reacher, const void *bytes, size_t size,
		       reach_found *found)
{
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)bytes + at, sizeof(word));
		look_at(reacher, word, found);
	}
}

static void scan_task(struct reacher *reacher, const struct frozen_task *task,
		      reach_found *found)
{
	const struct arch_ops *arch = arch_of_regs(&task->regs);
	uint64_t vector;

	scan_words(reacher, &task->regs, sizeof(task->regs), found);
	scan_words(reacher, &task->fp, sizeof(task->fp), found);
	if (arch && !memory_read((struct memory *)&reacher->picture->memory,
				 arch->thread_pointer(&task->regs) +
					 arch->thread_vector,
				 &vector, sizeof(vector)))
		look_at(reacher, vector - VECTOR_BACK, found);
}

static bool has_guard(const struct mappings *mappings,
		      const struct mapping *mapping)
{
	return mapping->kind == MAPPING_STACK && mapping > mappings->list &&
	       mapping[-1].end == mapping->start && !mapping[-1].readable;
}

static void scan_mapping(struct reacher *reacher, const struct mapping *mapping,
			 const struct stack_pointers *sps, reach_found *found)
{
	const taddr_t sp = lowest_sp(mapping, sps);
	taddr_t start = mapping->start;
	struct dead_stack dead;

	if (sp < mapping->end && sp - start >= RED_ZONE) {
		start = (sp - RED_ZONE) & ~(taddr_t)7;
	} else if (sp == mapping->end &&
		   has_guard(reacher->mappings, mapping) &&
		   reach_find_dead_stack(reacher, mapping, &dead)) {
		look_at(reacher, dead.vector, found);
		start = dead.end;
	}
	scan_less_holes(reacher, start, mapping->end, found);
}

void reach_scan_roots(struct reacher *reacher, const struct freeze *frozen,
		      reach_found *found)
{
	const struct mappings *mappings = reacher->mappings;
	struct stack_pointers sps = sort_sps(frozen);

	for (size_t i = 0; i < reacher->glibc->coming_count; i++)
		look_at(reacher, reacher->glibc->coming[i], found);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];

		if (mapping->readable && mapping->kind != MAPPING_OWN)
			scan_mapping(reacher, mapping, &sps, found);
	}
	/* What is left in one mostly has a name elsewhere, too. */
	for (size_t i = 0; i < frozen->count; i++)
		if (frozen->tasks[i].known)
			scan_task(reacher, &frozen->tasks[i], found);
	free(sps.list);
}
