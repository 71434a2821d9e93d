/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/glibc_private.h"
#include "memory/module_data.h"
#include "sysdeps/linux/pagemap.h"

/* Where arenas are: the first one in the C library's data (or, when linked
   statically, the program's), the others in a ring that it begins. */

/* More than any process has; a ring that goes on is none. */
#define ARENAS_MAX 16384

/* Of all arenas, each of which has few. */
#define PARTS_MAX (1u << 20)

/* Words can be laid so that an arena seems to begin at each of them. */
#define LOOKS_MAX (16 * ARENAS_MAX)

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Bins that are empty point at themselves, the others at chunks. */
static bool has_bins(const uint8_t *bytes, taddr_t address)
{
	unsigned empty = 0;

	for (unsigned i = 0; i < ARENA_BIN_COUNT; i++) {
		const size_t bin = ARENA_BINS + 16 * (size_t)i;
		const taddr_t self = address + bin - BIN_BACK;
		const uint64_t first = word_at(bytes, bin);
		const uint64_t last = word_at(bytes, bin + 8);

		if ((first == self) != (last == self) || !first || !last ||
		    first % 16 || last % 16)
			return false;
		empty += first == self;
	}
	return empty >= ARENA_BIN_COUNT / 4;
}

static bool is_arena(const uint8_t *bytes, taddr_t address)
{
	const uint64_t next = word_at(bytes, ARENA_NEXT);

	return next && next % 8 == 0 && has_bins(bytes, address);
}

/* Several threads' arenas may be empty, with all bins: what counts is a top. */
static bool read_arena(struct memory *memory, taddr_t address,
		       struct glibc_arena *ret, taddr_t *next_ret)
{
	uint8_t bytes[ARENA_SIZE];

	if (memory_read(memory, address, bytes, sizeof(bytes)) ||
	    !is_arena(bytes, address))
		return false;
	*ret = (struct glibc_arena){
		.address = address,
		.size = ARENA_SIZE,
		.top = word_at(bytes, ARENA_TOP),
		.system_bytes = word_at(bytes, ARENA_SYSTEM),
		.system_most = word_at(bytes, ARENA_SYSTEM + 8),
		.tops = SIZE_MAX,
	};
	*next_ret = word_at(bytes, ARENA_NEXT);
	return true;
}

static void add_arena(struct glibc *glibc, const struct glibc_arena *arena)
{
	/* Its top is its own first bin as long as nobody has asked it. */
	if (arena->top == arena->address + ARENA_BINS - BIN_BACK)
		return;
	glibc->arenas = xgrow(glibc->arenas, glibc->arena_count,
			      &glibc->arena_room, sizeof(*glibc->arenas));
	glibc->arenas[glibc->arena_count++] = *arena;
}

/* False when the ring doesn't close: then it is no arena at all. */
static bool add_ring(struct memory *memory, struct glibc *glibc, taddr_t first,
		     unsigned *looks)
{
	const size_t before = glibc->arena_count;
	taddr_t address = first;

	for (unsigned i = 0; i < ARENAS_MAX && *looks; i++, --*looks) {
		struct glibc_arena arena;

		if (!read_arena(memory, address, &arena, &address))
			break;
		arena.main = !i;
		add_arena(glibc, &arena);
		if (address == first)
			return true;
	}
	glibc->arena_count = before;
	return false;
}

/* struct malloc_par is known by what the caches of threads are limited to. */
static bool is_par(const uint8_t *bytes, size_t at)
{
	const uint64_t bins = word_at(bytes, at + PAR_CACHE_BINS);

	return bins && bins <= CACHE_BINS &&
	       word_at(bytes, at + PAR_CACHE_MAX) == (bins - 1) * 16 + 24 &&
	       word_at(bytes, at) &&
	       word_at(bytes, at + PAR_MAP_BYTES) <=
		       word_at(bytes, at + PAR_MAP_MOST);
}

/*
 * How many blocks have mappings: n_mmaps, n_mmaps_max, max_n_mmaps and
 * no_dyn_threshold follow each other, since 2.35 behind hp_flags.
 */
static int32_t par_map_count(const uint8_t *bytes, size_t at)
{
	int32_t words[6]; /* hp_flags comes first, or is half of something */

	memcpy(words, bytes + at + PAR_MAP_COUNTS, sizeof(words));
	if (words[2] <= words[4] && (words[5] == 0 || words[5] == 1))
		return words[2];
	return words[1] <= words[3] ? words[1] : -1;
}

static void take_par(struct glibc *glibc, const uint8_t *bytes, size_t at)
{
	const int32_t count = par_map_count(bytes, at);

	if (count < 0 || glibc->known_totals)
		return;
	glibc->known_totals = true;
	glibc->map_count = (uint64_t)count;
	glibc->map_bytes = word_at(bytes, at + PAR_MAP_BYTES);
	glibc->sbrk_base = word_at(bytes, at);
}

static void look_through(struct memory *memory, struct glibc *glibc,
			 taddr_t start, const uint8_t *bytes, size_t size,
			 unsigned *looks)
{
	const size_t before = glibc->arena_count;

	for (size_t at = 0; at + ARENA_SIZE <= size && *looks; at += 8)
		if (is_arena(bytes + at, start + at) &&
		    add_ring(memory, glibc, start + at, looks))
			at += ARENA_SIZE - 8;
	if (glibc->arena_count == before)
		return;
	for (size_t at = -PAR_MAP_COUNTS; at + PAR_CACHE_MAX + 8 <= size;
	     at += 8)
		if (is_par(bytes, at))
			take_par(glibc, bytes, at);
}

void glibc_find_arenas(struct memory *memory, const struct mappings *mappings,
		       struct glibc *glibc)
{
	unsigned looks = LOOKS_MAX;
	struct module_data data;
	size_t at = 0;

	while (module_data_next(memory, mappings, &at, &data)) {
		look_through(memory, glibc, data.start, data.bytes, data.size,
			     &looks);
		free(data.bytes);
	}
}

/* ---- parts of arenas ---- */

struct heap_range {
	taddr_t start, end;
};

/* What brk() has made is several mappings where parts of it were advised on. */
static struct heap_range whole_heap(const struct mappings *mappings,
				    const struct mapping *mapping)
{
	size_t first = mapping - mappings->list, last = first;

	while (mapping->kind == MAPPING_HEAP && first &&
	       mappings->list[first - 1].kind == MAPPING_HEAP &&
	       mappings_goes_on(mappings, first - 1))
		first--;
	while (mapping->kind == MAPPING_HEAP &&
	       mappings_goes_on(mappings, last))
		last++;
	return (struct heap_range){ mappings->list[first].start,
				    mappings->list[last].end };
}

static bool find_main_part(const struct mappings *mappings, struct glibc *glibc,
			   size_t index)
{
	const struct glibc_arena *arena = &glibc->arenas[index];
	const struct mapping *mapping = mappings_find(mappings, arena->top);
	taddr_t start = glibc->sbrk_base;
	struct heap_range heap;

	if (!mapping)
		return false;
	heap = whole_heap(mappings, mapping);
	if (start < heap.start || start > arena->top)
		start = heap.start;
	start = (start + 15) & ~(taddr_t)15;
	/* Static programs keep their first thread's variables before it. */
	glibc_add_part(glibc, &(struct glibc_part){
				      .start = start,
				      .end = heap.end,
				      .whole_start = start,
				      .whole_end = heap.end,
				      .arena = index,
			      });
	return true;
}

/* The arena lies in its first part, behind the head that each of them has. */
static taddr_t first_chunk(taddr_t heap, const struct glibc_arena *arena)
{
	const taddr_t arenas = arena->address & ~(HEAP_ALIGN - 1);

	if (heap == arenas)
		return (arena->address + ARENA_SIZE + 15) & ~(taddr_t)15;
	return heap + (arena->address - arenas);
}

bool glibc_find_parts(struct memory *memory, const struct mappings *mappings,
		      struct glibc *glibc, size_t index)
{
	const struct glibc_arena *arena = &glibc->arenas[index];
	const taddr_t head = arena->address % HEAP_ALIGN;
	taddr_t heap = arena->top & ~(HEAP_ALIGN - 1);

	if (arena->main)
		return find_main_part(mappings, glibc, index);
	if (head != HEAP_HEAD && head != HEAP_HEAD_OLD)
		return false;
	while (glibc->part_count < PARTS_MAX) {
		const taddr_t start = first_chunk(heap, arena);
		uint64_t words[3];

		if (memory_read(memory, heap, words, sizeof(words)) ||
		    words[HEAP_ARENA / 8] != arena->address ||
		    words[HEAP_SIZE / 8] > HEAP_ALIGN ||
		    words[HEAP_SIZE / 8] < start - heap)
			return false;
		glibc_add_part(glibc,
			       &(struct glibc_part){
				       .start = start,
				       .end = heap + words[HEAP_SIZE / 8],
				       .whole_start = heap,
				       .whole_end = heap + words[HEAP_SIZE / 8],
				       .arena = index,
			       });
		heap = words[HEAP_PREVIOUS / 8];
		if (!heap)
			return true;
		if (heap % HEAP_ALIGN)
			return false;
	}
	return false;
}

/* ---- blocks with a mapping of their own ---- */

#define PAGE 4096

/* Pages that are looked at in search of those that have others before them. */
#define PAGES_MAX (1u << 20)

/* How many bytes the block has that begins with a page; 0: none does. */
static uint64_t map_size(struct window *window, taddr_t page, taddr_t end)
{
	uint64_t words[2], size;

	if (memory_read(&window->memory, page, words, sizeof(words)))
		return 0;
	size = words[1] & ~(uint64_t)CHUNK_FLAGS;
	if (words[0] || (words[1] & CHUNK_FLAGS) != CHUNK_MAPPED || !size ||
	    size % PAGE || size > end - page)
		return 0;
	return size;
}

/* memalign() takes a block that begins later, and says so there. */
static taddr_t aligned_chunk(struct window *window, taddr_t page, uint64_t size)
{
	const taddr_t first = page + BLOCK_UNIT;

	for (uint64_t align = 32; align < size; align *= 2) {
		const taddr_t user = (first + align - 1) & ~(align - 1);
		const taddr_t chunk = user - BLOCK_UNIT;
		uint64_t words[2];

		if (chunk <= page || chunk + CHUNK_LEAST > page + size)
			continue;
		if (!memory_read(&window->memory, chunk, words,
				 sizeof(words)) &&
		    words[0] == chunk - page &&
		    words[1] == ((page + size - chunk) | CHUNK_MAPPED))
			return chunk;
	}
	return page;
}

static void add_map(struct window *window, struct glibc *glibc, taddr_t page,
		    uint64_t size)
{
	glibc_add_part(glibc,
		       &(struct glibc_part){
			       .start = aligned_chunk(window, page, size),
			       .end = page + size,
			       .whole_start = page,
			       .whole_end = page + size,
			       .mapped = true,
		       });
}

static bool has_all(const struct glibc *glibc, uint64_t found)
{
	return glibc->known_totals && found >= glibc->map_count;
}

/* A mapping that blocks may begin in. */
struct map_place {
	const struct mapping *mapping; /* or NULL */
	taddr_t behind;                /* what was found at its beginning */
	taddr_t end; /* no block there goes farther: of the last mapping that
			   may once have been one with it */
};

struct map_search {
	struct window *window;
	struct glibc *glibc;
	struct map_place *places; /* of each mapping */
	uint64_t found;
	unsigned left; /* pages that may be looked at */
};

/* Most mappings hold such blocks from their beginning on. */
static taddr_t take_row(struct map_search *maps, const struct map_place *place,
			taddr_t page)
{
	uint64_t size;

	while (page < place->mapping->end &&
	       !has_all(maps->glibc, maps->found) &&
	       (size = map_size(maps->window, page, place->end))) {
		add_map(maps->window, maps->glibc, page, size);
		page += size;
		maps->found++;
	}
	return page;
}

static void search(struct map_search *maps, const struct pagemap *map,
		   const struct map_place *place)
{
	const taddr_t end = place->mapping->end;
	struct pagemap copy = *map;
	taddr_t page = place->behind;
	struct page_run run;

	while (page < end && !has_all(maps->glibc, maps->found) &&
	       !pagemap_next(&copy, page, end, &run) && run.begin < run.end) {
		for (page = run.begin; page < run.end && maps->left;
		     maps->left--) {
			const taddr_t behind = take_row(maps, place, page);

			page = behind > page ? behind : page + PAGE;
		}
		if (!maps->left)
			return;
	}
}

static bool may_have_maps(const struct mapping *mapping)
{
	/* The kernel joins them with what lies beside them, .bss and stacks
	   included. */
	return (mapping->kind == MAPPING_ANONYMOUS ||
		mapping->kind == MAPPING_STACK ||
		mapping->kind == MAPPING_LIBRARY_DATA ||
		mapping->kind == MAPPING_PROGRAM_DATA) &&
	       mapping->writable && mapping->readable && !mapping->shared &&
	       !mapping->inode &&
	       (!*mapping->path || !strncmp(mapping->path, "[anon:", 6));
}

/* From the last one on, as it is these that others go on with. */
static void find_ends(struct map_search *maps, const struct mappings *mappings)
{
	for (size_t i = mappings->count; i-- > 0;)
		maps->places[i].end = mappings_goes_on(mappings, i) ?
					      maps->places[i + 1].end :
					      mappings->list[i].end;
}

static void take_beginnings(struct map_search *maps,
			    const struct mappings *mappings)
{
	taddr_t behind = 0;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->list[i];
		struct map_place *place = &maps->places[i];

		if (!may_have_maps(mapping))
			continue;
		place->mapping = mapping;
		if (behind < mapping->start)
			behind = mapping->start;
		behind = take_row(maps, place, behind);
		place->behind = behind;
	}
}

void glibc_find_maps(struct window *window, const struct mappings *mappings,
		     struct glibc *glibc)
{
	struct map_search maps = {
		.window = window,
		.glibc = glibc,
		.places = xcalloc(mappings->count, sizeof(*maps.places)),
		.left = PAGES_MAX,
	};
	struct pagemap map;

	find_ends(&maps, mappings);
	take_beginnings(&maps, mappings);
	if (!has_all(glibc, maps.found) && !pagemap_open(&map, mappings->pid)) {
		for (size_t i = 0; i < mappings->count; i++)
			if (maps.places[i].mapping)
				search(&maps, &map, &maps.places[i]);
		pagemap_close(&map);
	}
	free(maps.places);
}
