/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAKE_HEAP_H
#define CALLTRAP_FAKE_HEAP_H

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/glibc_layout.h"
#include "memory/glibc_private.h"
#include "memory/picture.h"

/*
 * The memory of a process that has never run: data with an arena and what
 * malloc counts itself, a heap, a thread's arena, a block with a mapping of its
 * own, and far more address space than there is memory. Tests change a word of
 * it, and see what becomes of that.
 */

#define FAKE_DATA   UINT64_C(0x555500000000)
#define FAKE_ROOTS  (FAKE_DATA + 0x1800) /* words that hold blocks */
#define FAKE_MAIN   (FAKE_DATA + 0x100)
#define FAKE_PAR    (FAKE_DATA + 0xc00) /* sbrk_base in it */
#define FAKE_HEAP   UINT64_C(0x555600000000)
#define FAKE_THREAD UINT64_C(0x7f0000000000)
#define FAKE_ARENA  (FAKE_THREAD + HEAP_HEAD)
#define FAKE_MAP    UINT64_C(0x7f1000000000)
#define FAKE_TABLES UINT64_C(0x7f2000000000) /* constants */
#define FAKE_SPARSE (UINT64_C(1) << 44)

#define FAKE_CHUNKS (FAKE_HEAP + 0x290) /* those behind a thread's cache */
#define FAKE_CHUNK  0x40
#define FAKE_COUNT  64

struct fake_region {
	taddr_t start, end;
	size_t there; /* bytes that aren't zeros */
	enum mapping_kind kind;
	uint64_t inode;
};

static const struct fake_region fake_regions[] = {
	{ FAKE_DATA, FAKE_DATA + 0x2000, 0x2000, MAPPING_LIBRARY_DATA, 7 },
	{ FAKE_HEAP, FAKE_HEAP + FAKE_SPARSE, 0x3000, MAPPING_HEAP, 0 },
	{ FAKE_THREAD, FAKE_THREAD + 0x21000, 0x2000, MAPPING_ANONYMOUS, 0 },
	{ FAKE_MAP, FAKE_MAP + 0x3000, 0x3000, MAPPING_ANONYMOUS, 0 },
	{ FAKE_TABLES, FAKE_TABLES + 0x1000, 0x1000, MAPPING_LIBRARY_CODE, 7 },
};

#define FAKE_REGIONS ARRAY_SIZE(fake_regions)
#define FAKE_BYTES   0xb000

struct fake_heap {
	struct mappings mappings;
	struct picture picture;
	uint8_t bytes[FAKE_BYTES];
};

/* Where a word is kept that the process has there, or NULL. */
static inline uint8_t *fake_at(struct fake_heap *fake, taddr_t address)
{
	size_t before = 0;

	for (size_t i = 0; i < FAKE_REGIONS; i++) {
		const struct fake_region *region = &fake_regions[i];

		if (address >= region->start &&
		    address - region->start + 8 <= region->there)
			return fake->bytes + before + (address - region->start);
		before += region->there;
	}
	return NULL;
}

static inline void fake_put(struct fake_heap *fake, taddr_t address,
			    uint64_t word)
{
	uint8_t *where = fake_at(fake, address);

	if (where)
		memcpy(where, &word, sizeof(word));
}

static inline taddr_t fake_block(unsigned i)
{
	return FAKE_CHUNKS + i * FAKE_CHUNK + 16;
}

static inline void fake_put_arena(struct fake_heap *fake, taddr_t arena,
				  taddr_t top, taddr_t next)
{
	for (unsigned i = 0; i < ARENA_BIN_COUNT; i++) {
		const taddr_t bin = arena + ARENA_BINS + 16 * i;

		fake_put(fake, bin, bin - BIN_BACK);
		fake_put(fake, bin + 8, bin - BIN_BACK);
	}
	fake_put(fake, arena + ARENA_TOP, top);
	fake_put(fake, arena + ARENA_NEXT, next);
	fake_put(fake, arena + ARENA_SYSTEM, 0x21000);
	fake_put(fake, arena + ARENA_SYSTEM + 8, 0x21000);
}

/* The first so many free blocks of 0x40 bytes, in the cache of a thread. */
static inline void fake_put_cache(struct fake_heap *fake, unsigned count)
{
	const taddr_t cache = FAKE_HEAP + 16;
	const unsigned bin = FAKE_CHUNK / 16 - 2;

	fake_put(fake, cache + 2 * bin, count);
	fake_put(fake, cache + CACHE_LISTS + 8 * bin,
		 count ? fake_block(0) : 0);
	for (unsigned i = 0; i < count; i++)
		fake_put(fake, fake_block(i),
			 fake_block(i) >> 12 ^
				 (i + 1 < count ? fake_block(i + 1) : 0));
}

static inline void fake_put_chunks(struct fake_heap *fake, taddr_t start,
				   unsigned count, uint64_t flags)
{
	for (unsigned i = 0; i < count; i++)
		fake_put(fake, start + i * FAKE_CHUNK + 8,
			 FAKE_CHUNK | CHUNK_PREV_IN_USE | flags);
}

static inline void fake_put_par(struct fake_heap *fake)
{
	fake_put(fake, FAKE_PAR, FAKE_HEAP);
	fake_put(fake, FAKE_PAR + PAR_CACHE_BINS, CACHE_BINS);
	fake_put(fake, FAKE_PAR + PAR_CACHE_MAX, (CACHE_BINS - 1) * 16 + 24);
	/* n_mmaps, n_mmaps_max; max_n_mmaps, no_dyn_threshold */
	fake_put(fake, FAKE_PAR + PAR_MAP_COUNTS + 8,
		 1 | UINT64_C(65536) << 32);
	fake_put(fake, FAKE_PAR + PAR_MAP_COUNTS + 16, 1);
	fake_put(fake, FAKE_PAR + PAR_MAP_BYTES, 0x3000);
	fake_put(fake, FAKE_PAR + PAR_MAP_MOST, 0x3000);
}

static inline void fake_map(struct fake_heap *fake)
{
	size_t before = 0;

	fake->mappings.list = xcalloc(FAKE_REGIONS, sizeof(struct mapping));
	fake->mappings.count = FAKE_REGIONS;
	picture_init(&fake->picture);
	for (size_t i = 0; i < FAKE_REGIONS; i++) {
		const struct fake_region *region = &fake_regions[i];

		fake->mappings.list[i] = (struct mapping){
			.start = region->start,
			.end = region->end,
			.kind = region->kind,
			.readable = true,
			.writable = region->kind != MAPPING_LIBRARY_CODE,
			.inode = region->inode,
			.path = xstrdup(region->inode ? "/lib/fake.so" : ""),
		};
		picture_add(&fake->picture, region->start,
			    region->start + region->there,
			    fake->bytes + before);
		before += region->there;
	}
}

/*
 * A heap without a fault: FAKE_COUNT blocks of 0x38 bytes, each but the first
 * pointing at the one before it, and as many of the thread's; the last of each
 * is in FAKE_ROOTS, and so is the one with a mapping of its own.
 */
static inline void fake_init(struct fake_heap *fake)
{
	const taddr_t top = FAKE_CHUNKS + FAKE_COUNT * FAKE_CHUNK;
	const taddr_t first = (FAKE_ARENA + ARENA_SIZE + 15) & ~UINT64_C(15);
	const taddr_t last = first + FAKE_COUNT / 2 * FAKE_CHUNK;

	memset(fake, 0, sizeof(*fake));
	fake_map(fake);
	fake_put_arena(fake, FAKE_MAIN, top, FAKE_ARENA);
	fake_put_arena(fake, FAKE_ARENA, last, FAKE_MAIN);
	fake_put_par(fake);
	fake_put(fake, FAKE_HEAP + 8, 0x290 | CHUNK_PREV_IN_USE);
	fake_put_chunks(fake, FAKE_CHUNKS, FAKE_COUNT, 0);
	fake_put(fake, top + 8, 0x1000 | CHUNK_PREV_IN_USE);
	fake_put(fake, FAKE_THREAD + HEAP_ARENA, FAKE_ARENA);
	fake_put(fake, FAKE_THREAD + HEAP_SIZE, 0x21000);
	fake_put_chunks(fake, first, FAKE_COUNT / 2, CHUNK_OTHER_ARENA);
	fake_put(fake, last + 8,
		 (FAKE_THREAD + 0x21000 - last) | CHUNK_PREV_IN_USE);
	fake_put(fake, FAKE_MAP + 8, 0x3000 | CHUNK_MAPPED);
	for (unsigned i = 1; i < FAKE_COUNT; i++)
		fake_put(fake, fake_block(i) + 8, fake_block(i - 1));
	fake_put(fake, FAKE_ROOTS, fake_block(FAKE_COUNT - 1));
	for (unsigned i = 0; i < FAKE_COUNT / 2; i++)
		fake_put(fake, FAKE_ROOTS + 0x100 + 8 * i,
			 first + i * FAKE_CHUNK + 16);
	fake_put(fake, FAKE_ROOTS + 8, FAKE_MAP + 16);
	fake_put(fake, FAKE_ROOTS + 16, FAKE_HEAP + 16);
	fake_put_cache(fake, 0);
}

static inline void fake_fini(struct fake_heap *fake)
{
	mappings_fini(&fake->mappings);
	picture_fini(&fake->picture);
}

#endif
