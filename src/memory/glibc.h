/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GLIBC_H
#define CALLTRAP_GLIBC_H

#include <stdbool.h>

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"

/*
 * The heap of glibc's malloc, as it lies in a process's memory: found by what
 * an arena looks like, so neither symbols nor the library's name matter, and
 * believed only if the chunks of each part lead from its beginning to its end.
 */

/* A part of an arena: chunks in a row. */
struct glibc_part {
	taddr_t start, end;             /* of the chunks */
	taddr_t whole_start, whole_end; /* … and what is the allocator's
					   beside them */
	size_t arena;                   /* index */
	bool mapped;         /* a block with a mapping of its own; no arena's */
	bool objects;        /* an interpreter's, in the same way */
	size_t first, count; /* its blocks */
};

struct glibc_arena {
	taddr_t address;
	uint64_t size; /* of what is known of it there */
	bool main;
	taddr_t top;
	uint64_t system_bytes, system_most; /* as it says itself */
	size_t tops;     /* which of the parts ends in its top */
	taddr_t trouble; /* the chunks make no sense from there on, … */
	const char *why; /* … or NULL */
	uint64_t count[BLOCK_STATES];
	uint64_t bytes[BLOCK_STATES];
};

struct glibc {
	bool musl; /* it is musl's, see mallocng.h */
	struct glibc_arena *arenas;
	size_t arena_count, arena_room;
	struct glibc_part *parts; /* by address */
	size_t part_count, part_room;
	struct blocks blocks;
	taddr_t *coming; /* blocks that a thread may be about to get */
	size_t coming_count, coming_room;
	bool known_totals;             /* these two were found */
	uint64_t map_count, map_bytes; /* blocks that have mappings, by glibc's
					  own count */
	uint64_t found_maps, found_map_bytes; /* … and those that were found */
	taddr_t sbrk_base;
	bool scrambled;     /* pointers of lists (since 2.32) */
	uint64_t bad_lists; /* fastbins and caches that make no sense */
	uint64_t caches;    /* of threads, that hold something */
};

/*
 * Reads all of them: 0, -ENOENT when there is no such allocator in the
 * process, or it was never used. What isn't understood is said in the arenas.
 * Sets the mappings' kinds, too.
 */
int glibc_read(struct memory *memory, struct mappings *mappings,
	       struct glibc *ret) MUST_CHECK;
void glibc_fini(struct glibc *glibc);

/* Whether all of it made sense. */
bool glibc_is_understood(const struct glibc *glibc);

#endif
