/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of an interpreter that lies to us. The first byte says of which one;
 * words of its memory, which is without a fault, are changed then, in eleven bytes
 * each: which word (two), what with (one), and eight more of that. Pools are ours,
 * as the kernel says what is there of them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "check_leaks.h"
#include "memory/object_blocks.h"
#include "memory/object_heap.h"
#include "memory/object_links.h"
#include "memory/php_tables.h"
#include "memory/python_garbage.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define CHANGE 11

#define BASE  UINT64_C(0x310000000000)
#define DATA  (BASE - 0x10000) /* of the interpreter's file */
#define ROOTS (DATA + 0x1c00)
#define POOLS BASE
#define HEAP  (BASE + 0x1000000)

#define BLOCK  0x400 /* of malloc's, each */
#define BLOCKS 12

static const struct region {
	taddr_t start, end;
	size_t there;
	enum mapping_kind kind;
	uint64_t inode;
} regions[] = {
	{ DATA, DATA + 0x2000, 0x2000, MAPPING_LIBRARY_DATA, 7 },
	{ POOLS, POOLS + 0x200000, 0x8000, MAPPING_ANONYMOUS, 0 },
	{ HEAP, HEAP + BLOCKS *BLOCK, BLOCKS *BLOCK, MAPPING_HEAP, 0 },
};

#define BYTES (0x2000 + 0x8000 + BLOCKS * BLOCK)

/* ---- its memory ---- */

static void map_once(void)
{
	static bool mapped;

	for (size_t i = 0; !mapped && i < ARRAY_SIZE(regions); i++) {
		void *at = (void *)(uintptr_t)regions[i].start;
		const size_t size = regions[i].end - regions[i].start;

		if (mmap(at, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0) != at)
			abort();
		(void)madvise(at, size, MADV_NOHUGEPAGE);
	}
	mapped = true;
}

static void clear(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
		memset((void *)(uintptr_t)regions[i].start, 0,
		       regions[i].there);
}

static void put(taddr_t at, uint64_t word)
{
	memcpy((void *)(uintptr_t)at, &word, sizeof(word));
}

static void put_text(taddr_t at, const char *text)
{
	memcpy((void *)(uintptr_t)at, text, strlen(text) + 1);
}

static taddr_t block_at(unsigned i)
{
	return HEAP + i * BLOCK + BLOCK_UNIT;
}

/* ---- Python's ---- */

#define TYPE(i)  (DATA + 0x200 * (i))
#define TEXTS    (DATA + 0x1800)
#define OF_TYPES (UINT64_C(1) << 31)
#define OF_LISTS (UINT64_C(1) << 25)
#define READY    (UINT64_C(1) << 12)
#define PIECE(i) (POOLS + 48 + 64 * (i))

static void put_type(unsigned i, const char *name, uint64_t flags)
{
	put(TYPE(i), 1);
	put(TYPE(i) + 8, TYPE(0));
	put(TYPE(i) + 24, TEXTS + 16 * i);
	put(TYPE(i) + 32, 32);
	put(TYPE(i) + 168, flags | READY);
	put_text(TEXTS + 16 * i, name);
}

static void put_python_object(taddr_t at, unsigned type, uint64_t first)
{
	put(at, 1);
	put(at + 8, TYPE(type));
	put(at + 16, first);
}

static void put_python(void)
{
	put_type(0, "type", OF_TYPES);
	put_type(1, "Session", 0);
	put_type(2, "dict", 0);
	put_type(3, "str", 0);
	put_type(4, "list", OF_LISTS);
	put(TYPE(1) + 240, block_at(3));
	put(block_at(3), TEXTS);
	put(block_at(3) + 16, 24);
	put(POOLS, 20);
	put(POOLS + 32, UINT64_C(3) << 32);
	put(POOLS + 40, (48 + 20 * 64) | (uint64_t)(16384 - 64) << 32);
	for (unsigned i = 0; i < 20; i++)
		put_python_object(PIECE(i) + 16 * (i % 3), 1 + i % 4,
				  PIECE((i + 1) % 20));
	put(PIECE(1) + 16 + 32, block_at(0));
	put(PIECE(3) + 24, block_at(1));
	put(PIECE(2) + 48, 0);
	put(ROOTS, PIECE(0));
	put(ROOTS + 8, PIECE(1));
	/* Keys of a dictionary, items of a list, an object outside of pools. */
	put(block_at(0), 1);
	put(block_at(0) + 32, PIECE(2));
	put(block_at(0) + 40, PIECE(3));
	put(block_at(1), PIECE(4));
	put_python_object(block_at(2), 4, block_at(1));
}

/* ---- Ruby's ---- */

#define SLOT(i) (POOLS + 16 + 40 * (i))
#define STACK   (POOLS + 0x4000)

static void put_slot(unsigned i, uint64_t flags, uint64_t class, uint64_t first)
{
	put(SLOT(i), flags);
	put(SLOT(i) + 8, class);
	put(SLOT(i) + 16, first);
}

static void put_ruby(void)
{
	put(POOLS, block_at(0));
	put(block_at(0), 40 | 60 << 16);
	put(block_at(0) + 32, SLOT(0));
	/* A class, with its name, and objects; a table of names of one row. */
	put_slot(0, 2, 0, 0);
	put(SLOT(0) + 24, block_at(1));
	put(block_at(1), block_at(3) + 64);
	put(block_at(1) + 8, block_at(2));
	put(block_at(2) + 40, 1);
	put(block_at(2) + 48, block_at(3));
	put(block_at(3) + 8, 77);
	put(block_at(3) + 16, SLOT(1));
	put(block_at(3) + 64 + 40, 1);
	put(block_at(3) + 64 + 48, block_at(3) + 128);
	put(block_at(3) + 128 + 8, 16);
	put_slot(1, 5 | 4 << 14, 0, 0);
	put_text(SLOT(1) + 16, "Shop");
	put_slot(2, 7 | 0x2000 | 1 << 15, 0, SLOT(3));
	put_slot(3, 7, 0, 600);
	put(SLOT(3) + 32, POOLS + 0x1000);
	for (unsigned i = 0; i < 600; i++)
		put(POOLS + 0x1000 + 8 * i, SLOT(1));
	for (unsigned i = 4; i < 30; i++)
		put_slot(i, 1 | 0x2000, SLOT(0), SLOT(i + 1));
	put_slot(31, 8, SLOT(0), block_at(4));
	put_slot(32, 7, SLOT(0), 4);
	put(SLOT(32) + 32, block_at(5));
	/* A thread's stack. */
	put(block_at(6) + 8, STACK);
	put(block_at(6) + 16, 1024);
	put(block_at(6) + 24, STACK + 0x1f80);
	put(STACK + 0x1f88, STACK + 0x40);
	put(STACK, SLOT(4));
	put(ROOTS, SLOT(31));
}

/* ---- PHP's ---- */

#define CHUNK_LISTS (POOLS + 96)
#define CHUNK_HUGE  (CHUNK_LISTS + 8 * 30)
#define CHUNK_MAP   (CHUNK_HUGE + 72)
#define PAGE(i)     (POOLS + 0x1000 * (i))

static void put_piece(taddr_t at, uint64_t type, uint64_t second,
		      uint64_t third, uint64_t fourth)
{
	put(at, 1 | type << 32);
	put(at + 8, second);
	put(at + 16, third);
	put(at + 24, fourth);
}

static void put_php(void)
{
	static const uint32_t pages[] = { 0x40000001, 0x80000006, 0x80000003,
					  0x40000001, 0x80000000 };

	put(POOLS, POOLS + 64);
	put(POOLS + 8, POOLS);
	put(CHUNK_HUGE + 8, POOLS);
	memcpy((void *)(uintptr_t)CHUNK_MAP, pages, sizeof(pages));
	/* A class of malloc's, its name, and what it does. */
	put(block_at(0), 1);
	put(block_at(0) + 8, block_at(1));
	put_piece(block_at(1), 6, 0, 7, 0);
	put_text(block_at(1) + 24, "Session");
	for (unsigned i = 0; i < 40; i++) {
		put_piece(PAGE(1) + 56 * i, 8, i, block_at(0), DATA);
		put(PAGE(1) + 56 * i + 40, PAGE(1) + 56 * (i + 1));
	}
	/* An array with elements in a page, strings, a piece that is free. */
	put_piece(PAGE(1) + 56 * 41, 7, UINT64_C(0xfffffffe) << 32, PAGE(3) + 8,
		  2 | UINT64_C(2) << 32);
	put(PAGE(1) + 56 * 41 + 32, 8);
	put(PAGE(3) + 8, PAGE(1));
	put_piece(PAGE(2), 6, 0, 4, 0x74786574);
	put(CHUNK_LISTS + 8 * 3, PAGE(2) + 32);
	put(ROOTS, PAGE(1) + 56 * 41);
	put(ROOTS + 8, PAGE(2));
}

/* ---- what is asked ---- */

static const struct language {
	const char *file;
	void (*put)(void);
} languages[] = {
	{ "/usr/lib/libpython3.so", put_python },
	{ "/usr/lib/libruby.so", put_ruby },
	{ "/usr/bin/php", put_php },
};

static taddr_t place(unsigned word)
{
	size_t at = (size_t)word * 8 % BYTES, i = 0;

	while (at >= regions[i].there)
		at -= regions[i++].there;
	return regions[i].start + at;
}

static void change(const uint8_t *bytes)
{
	const taddr_t where = place(bytes[0] | bytes[1] << 8);
	uint64_t value;

	memcpy(&value, bytes + 3, sizeof(value));
	switch (bytes[2] % 4) {
	case 1: /* a place that is there */
		value = place(value & 0xffff) + (value >> 16 & 15);
		break;
	case 2: /* half of it stays as it was */
		memcpy((void *)(uintptr_t)where, bytes + 3, 4);
		return;
	case 3: /* a size */
		value &= 0xffffff;
		break;
	}
	put(where, value);
}

static void map_all(struct leaks *leaks, const struct language *language)
{
	struct mappings *mappings = &leaks->mappings;

	mappings->list = xcalloc(ARRAY_SIZE(regions), sizeof(struct mapping));
	mappings->count = ARRAY_SIZE(regions);
	mappings->pid = getpid();
	picture_init(&leaks->picture);
	for (size_t i = 0; i < ARRAY_SIZE(regions); i++) {
		const struct region *region = &regions[i];

		mappings->list[i] = (struct mapping){
			.start = region->start,
			.end = region->end,
			.kind = region->kind,
			.readable = true,
			.writable = true,
			.inode = region->inode,
			.path = xstrdup(region->inode ? language->file : ""),
		};
		picture_add(&leaks->picture, region->start,
			    region->start + region->there,
			    (uint8_t *)(uintptr_t)region->start);
	}
}

static void make_blocks(struct glibc *glibc)
{
	glibc->parts = xcalloc(1, sizeof(*glibc->parts));
	glibc->part_count = glibc->part_room = 1;
	*glibc->parts = (struct glibc_part){
		.start = HEAP,
		.end = HEAP + BLOCKS * BLOCK,
		.whole_start = HEAP,
		.whole_end = HEAP + BLOCKS * BLOCK,
		.count = BLOCKS,
	};
	blocks_init(&glibc->blocks);
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks_add(&glibc->blocks,
			   &(struct block){ .address = block_at(i),
					    .units = BLOCK / BLOCK_UNIT,
					    .behind = 8,
					    .state = BLOCK_USED });
}

/* What is found by type is a block of its own, and they don't overlap. */
static void check_blocks(const struct glibc *glibc)
{
	const struct blocks *blocks = &glibc->blocks;

	for (size_t i = 1; i < blocks->count; i++)
		if (blocks->list[i - 1].address +
			    block_usable(&blocks->list[i - 1]) >
		    blocks->list[i].address)
			__builtin_trap();
}

static void count_objects(const struct leaks *leaks)
{
	struct object_heap heaps[OBJECT_LANGUAGES];

	object_heaps_read((struct memory *)&leaks->picture.memory,
			  &leaks->mappings, &leaks->glibc.blocks, NULL, heaps);
	object_heaps_fini(heaps);
}

static void look(struct leaks *leaks)
{
	struct memory *memory = &leaks->picture.memory;

	count_objects(leaks);
	python_garbage_find(&leaks->picture, &leaks->mappings, &leaks->freeze,
			    &leaks->glibc);
	if (object_blocks_add(memory, &leaks->mappings, &leaks->glibc))
		leaks->links = object_links_new(&leaks->picture,
						&leaks->mappings,
						&leaks->glibc);
	php_tables_mark(&leaks->picture, &leaks->mappings, &leaks->glibc);
	check_blocks(&leaks->glibc);
	reach_find(&leaks->picture, &leaks->mappings, &leaks->freeze,
		   &leaks->glibc,
		   &(struct reach_options){
			   .ways = true,
			   .rule = object_links_rule(leaks->links),
		   },
		   &leaks->reach);
	check_holders(leaks);
	check_held(leaks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct leaks leaks = { .pid = 0 };
	const struct language *language;

	if (!size)
		return 0;
	map_once();
	clear();
	language = &languages[*bytes % ARRAY_SIZE(languages)];
	language->put();
	for (size_t at = 1; at + CHANGE <= size; at += CHANGE)
		change(bytes + at);
	map_all(&leaks, language);
	make_blocks(&leaks.glibc);
	look(&leaks);
	leaks_fini(&leaks);
	return 0;
}
