/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "memory/php_objects.h"

/* struct _zend_mm_chunk and _zend_mm_heap, Zend/zend_alloc.c of PHP 8.2; the
   first chunk has the heap in it, of which patches have enlarged the middle. */
#define CHUNK_SIZE  ((uint64_t)2 << 20)
#define PAGE        4096
#define PAGES       (CHUNK_SIZE / PAGE)
#define CHUNK_NEXT  8
#define CHUNK_HEAP  64
#define CHUNK_WORDS 96 /* that these and where the map begins are among */
#define HEAP_FREE   32
#define HEAP_LISTS  (HEAP_FREE + 8 * 30)
#define PAGE_SMALL  0x80000000
#define PAGE_LARGE  0x40000000
#define LARGE_PAGES 0x3ff
#define SMALL_BIN   0x1f
#define FIRST_PAGE  (PAGE_LARGE | 1)

#define UNIT        8
#define CHUNKS_MOST (1 << 14)
#define HUGE_MOST   (1 << 20)
#define KEPT_MOST   64 /* 128 MiB, PHP's own limit by default */
#define RUN_MOST    (7 * PAGE)

/* Sizes of pieces, and pages of a run of these: zend_alloc_sizes.h. */
static const struct php_bin {
	uint16_t size, pages;
} bins[] = {
	{ 8, 1 },    { 16, 1 },   { 24, 1 },   { 32, 1 },   { 40, 1 },
	{ 48, 1 },   { 56, 1 },   { 64, 1 },   { 80, 1 },   { 96, 1 },
	{ 112, 1 },  { 128, 1 },  { 160, 1 },  { 192, 1 },  { 224, 1 },
	{ 256, 1 },  { 320, 5 },  { 384, 3 },  { 448, 1 },  { 512, 1 },
	{ 640, 5 },  { 768, 3 },  { 896, 2 },  { 1024, 2 }, { 1280, 5 },
	{ 1536, 3 }, { 1792, 7 }, { 2048, 4 }, { 2560, 5 }, { 3072, 3 },
};

struct php_chunk {
	taddr_t address;
	uint32_t map[PAGES];
	uint8_t *free; /* a bit for each unit; NULL: none is */
	uint8_t *runs; /* all of it, of which only runs are read; or NULL */
	bool unread;   /* … as they can't be */
	UT_hash_handle hh;
};

struct php_seen {
	taddr_t address;
	UT_hash_handle hh;
};

struct php_look {
	struct memory *memory;
	const struct mappings *mappings;
	taddr_t first; /* chunk … */
	uint64_t huge; /* … and where in it the list is of what is larger … */
	uint64_t map;  /* … and a map of pages, as in all */
	uint64_t left; /* bytes that are there, and of no run yet */
	struct php_chunk *chunks;
	size_t kept;           /* of these, so many have runs */
	struct php_seen *seen; /* entries of that list */
	struct php_objects objects;
	struct object_heap *heap;
	const struct object_observer *observer; /* or NULL */
};

bool php_is_there(const struct mappings *mappings)
{
	static const char *const files[] = { "php", "libphp" };

	return object_heap_has_file(mappings, files, ARRAY_SIZE(files));
}

static uint64_t word_at(const struct php_look *look, taddr_t address)
{
	uint64_t word;

	return memory_read(look->memory, address, &word, sizeof(word)) ? 0 :
									 word;
}

/* ---- chunks ---- */

/* The heap names its own chunk right behind that list; the map has, as its first
   page, the one with all this. */
static bool is_first(struct php_look *look, taddr_t at)
{
	uint64_t words[CHUNK_WORDS];
	size_t i = (CHUNK_HEAP + HEAP_LISTS) / 8 + 1;

	if (word_at(look, at) != at + CHUNK_HEAP ||
	    memory_read(look->memory, at, words, sizeof(words)))
		return false;
	while (i < CHUNK_WORDS && words[i] != at)
		i++;
	look->huge = (i - 1) * 8;
	while (i < CHUNK_WORDS && (uint32_t)words[i] != FIRST_PAGE)
		i++;
	look->map = i * 8;
	return i < CHUNK_WORDS;
}

static void look_for_first(void *context, taddr_t begin, taddr_t end)
{
	struct php_look *look = context;
	taddr_t at = (begin + CHUNK_SIZE - 1) & -CHUNK_SIZE;

	look->left += end - begin;
	for (; !look->first && at >= begin && at < end; at += CHUNK_SIZE)
		if (is_first(look, at))
			look->first = at;
}

static struct php_chunk *chunk_at(const struct php_look *look, taddr_t address)
{
	struct php_chunk *chunk;

	HASH_FIND(hh, look->chunks, &address, sizeof(address), chunk);
	return chunk;
}

static bool add_chunk(struct php_look *look, taddr_t address)
{
	struct php_chunk *chunk;

	if (!address || address % CHUNK_SIZE || chunk_at(look, address) ||
	    word_at(look, address) != look->first + CHUNK_HEAP)
		return false;
	chunk = xcalloc(1, sizeof(*chunk));
	chunk->address = address;
	HASH_ADD(hh, look->chunks, address, sizeof(address), chunk);
	if (!memory_read(look->memory, address + look->map, chunk->map,
			 sizeof(chunk->map)) &&
	    chunk->map[0] == FIRST_PAGE)
		return true;
	memset(chunk->map, 0, sizeof(chunk->map));
	object_sum_add(&look->heap->broken, CHUNK_SIZE);
	return true;
}

static void find_chunks(struct php_look *look)
{
	taddr_t at = look->first;

	while (HASH_COUNT(look->chunks) < CHUNKS_MOST && add_chunk(look, at)) {
		look->heap->pools++;
		at = word_at(look, at + CHUNK_NEXT);
	}
}

/* ---- runs of pieces ---- */

static bool is_run(const struct php_chunk *chunk, uint64_t page, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (page + i >= PAGES || !(chunk->map[page + i] & PAGE_SMALL))
			return false;
	return true;
}

/* Those that follow each other at once: the process may have to wait. */
static bool read_runs(struct php_look *look, const struct php_chunk *chunk)
{
	for (uint64_t page = 0, count; page < PAGES; page += count) {
		for (count = 0; is_run(chunk, page + count, 1);)
			count++;
		if (count &&
		    memory_read(look->memory, chunk->address + page * PAGE,
				chunk->runs + page * PAGE, count * PAGE))
			return false;
		count += !count;
	}
	return true;
}

static void drop_runs(struct php_look *look, struct php_chunk *chunk)
{
	if (!chunk->runs)
		return;
	free(chunk->runs);
	chunk->runs = NULL;
	look->kept--;
}

/* False: they have to be read one by one. */
static bool have_runs(struct php_look *look, struct php_chunk *chunk)
{
	if (chunk->runs)
		return true;
	if (chunk->unread || look->kept >= KEPT_MOST)
		return false;
	chunk->runs = xcalloc(1, CHUNK_SIZE);
	look->kept++;
	if (read_runs(look, chunk))
		return true;
	chunk->unread = true;
	drop_runs(look, chunk);
	return false;
}

/* ---- free pieces ---- */

/* False where they come again, or lead elsewhere. */
static bool mark_free(struct php_look *look, taddr_t piece)
{
	struct php_chunk *chunk = chunk_at(look, piece & -CHUNK_SIZE);
	const uint64_t unit = piece % CHUNK_SIZE / UNIT;

	if (!chunk || piece % UNIT)
		return false;
	if (!chunk->free)
		chunk->free = xcalloc(1, CHUNK_SIZE / UNIT / 8);
	if (chunk->free[unit / 8] & 1u << unit % 8)
		return false;
	chunk->free[unit / 8] |= (uint8_t)(1u << unit % 8);
	return true;
}

static taddr_t free_behind(struct php_look *look, taddr_t piece)
{
	struct php_chunk *chunk = chunk_at(look, piece & -CHUNK_SIZE);
	const uint64_t offset = piece % CHUNK_SIZE;
	taddr_t next;

	if (!is_run(chunk, offset / PAGE, 1) || !have_runs(look, chunk))
		return word_at(look, piece);
	memcpy(&next, chunk->runs + offset, sizeof(next));
	return next;
}

static void mark_all_free(struct php_look *look)
{
	const taddr_t lists = look->first + CHUNK_HEAP + HEAP_FREE;

	for (size_t i = 0; i < ARRAY_SIZE(bins); i++) {
		taddr_t piece = word_at(look, lists + i * sizeof(taddr_t));

		while (piece && mark_free(look, piece))
			piece = free_behind(look, piece);
		if (piece)
			object_sum_add(&look->heap->broken, bins[i].size);
	}
}

static bool is_free(const struct php_chunk *chunk, uint64_t offset)
{
	const uint64_t unit = offset / UNIT;

	return chunk->free && chunk->free[unit / 8] & 1u << unit % 8;
}

/* ---- pieces in use ---- */

static void take_piece(struct php_look *look, const struct php_piece *piece)
{
	struct object_heap *heap = look->heap;
	const char *type = php_objects_count(&look->objects, piece);

	object_sum_add(type ? &heap->objects : &heap->others, piece->bytes);
	object_tell_piece(look->observer, piece->address, piece->bytes);
	object_tell(look->observer, &(struct object_found){
					    .address = piece->address,
					    .bytes = piece->begin,
					    .seen = piece->seen,
					    .type = type,
					    .apart = php_objects_apart(piece),
				    });
}

/* One that is larger than what a run has. */
static void take_large(struct php_look *look, taddr_t address, uint64_t bytes)
{
	uint8_t begin[PHP_LOOKED_AT] = { 0 };

	if (memory_read(look->memory, address, begin, sizeof(begin)))
		memset(begin, 0, sizeof(begin));
	take_piece(look,
		   &(struct php_piece){ address, bytes, begin, sizeof(begin) });
}

/* PHP puts all of its pieces on a list at once, so its pages are there: runs of more
   than the process has are none, and each would be many pieces for us. */
static bool may_be_there(struct php_look *look, uint64_t bytes)
{
	if (bytes > look->left)
		return false;
	look->left -= bytes;
	return true;
}

/* NULL: it can't be had. */
static const uint8_t *read_run(struct php_look *look, struct php_chunk *chunk,
			       uint64_t offset, uint64_t bytes, uint8_t *room)
{
	if (!may_be_there(look, bytes))
		return NULL;
	if (have_runs(look, chunk))
		return chunk->runs + offset;
	return memory_read(look->memory, chunk->address + offset, room, bytes) ?
		       NULL :
		       room;
}

static void take_run(struct php_look *look, struct php_chunk *chunk,
		     uint64_t offset, const struct php_bin *bin)
{
	uint8_t room[RUN_MOST];
	const uint64_t bytes = (uint64_t)bin->pages * PAGE;
	const uint8_t *run = read_run(look, chunk, offset, bytes, room);

	if (!run) {
		object_sum_add(&look->heap->broken, bytes);
		object_tell_piece(look->observer, chunk->address + offset,
				  bytes);
		return;
	}
	for (uint64_t at = 0; at + bin->size <= bytes; at += bin->size) {
		if (is_free(chunk, offset + at))
			object_sum_add(&look->heap->free, bin->size);
		else
			take_piece(look,
				   &(struct php_piece){
					   chunk->address + offset + at,
					   bin->size, run + at, bin->size });
	}
}

/* Returns how many pages it has taken. */
static uint64_t take_pages(struct php_look *look, struct php_chunk *chunk,
			   uint64_t page)
{
	const uint32_t info = chunk->map[page];
	const uint64_t bin = info & SMALL_BIN, count = info & LARGE_PAGES;

	if (!(info & (PAGE_SMALL | PAGE_LARGE))) {
		object_sum_add(&look->heap->empty, PAGE);
		return 1;
	}
	if (info & PAGE_SMALL && !(info & PAGE_LARGE) &&
	    bin < ARRAY_SIZE(bins) && is_run(chunk, page, bins[bin].pages)) {
		take_run(look, chunk, page * PAGE, &bins[bin]);
		return bins[bin].pages;
	}
	if (!(info & PAGE_SMALL) && count && page + count <= PAGES) {
		take_large(look, chunk->address + page * PAGE, count * PAGE);
		return count;
	}
	object_sum_add(&look->heap->broken, PAGE);
	object_tell_piece(look->observer, chunk->address + page * PAGE, PAGE);
	return 1;
}

static void take_chunk(struct php_look *look, struct php_chunk *chunk)
{
	if (!chunk->map[0])
		return;
	/* The first page leads to what is free. */
	object_tell_pool(look->observer, chunk->address + PAGE,
			 chunk->address + CHUNK_SIZE);
	for (uint64_t page = 1; page < PAGES;)
		page += take_pages(look, chunk, page);
	drop_runs(look, chunk);
}

/* ---- what has memory of its own ---- */

static bool is_mapped(const struct mappings *mappings, taddr_t address,
		      uint64_t bytes)
{
	const struct mapping *mapping = mappings_find(mappings, address);

	while (mapping && mapping->writable && bytes > mapping->end - address) {
		bytes -= mapping->end - address;
		address = mapping->end;
		mapping = mappings_find(mappings, address);
	}
	return mapping && mapping->writable;
}

static bool is_huge(const struct php_look *look, const struct php_entry *entry)
{
	return entry->block && entry->block % CHUNK_SIZE == 0 && entry->bytes &&
	       entry->bytes % PAGE == 0 && !chunk_at(look, entry->block) &&
	       is_mapped(look->mappings, entry->block, entry->bytes);
}

/* False where the list comes to an entry again, or can't be read. */
static bool read_entry(struct php_look *look, taddr_t address,
		       struct php_entry *ret)
{
	struct php_seen *seen;

	HASH_FIND(hh, look->seen, &address, sizeof(address), seen);
	if (seen || HASH_COUNT(look->seen) >= HUGE_MOST ||
	    memory_read(look->memory, address, ret, sizeof(*ret)))
		return false;
	seen = xcalloc(1, sizeof(*seen));
	seen->address = address;
	HASH_ADD(hh, look->seen, address, sizeof(address), seen);
	return true;
}

static uint64_t sum_of(const struct mappings *mappings)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < mappings->count; i++)
		bytes += mappings->list[i].end - mappings->list[i].start;
	return bytes;
}

/* No list that is right has more than what the process has. */
static void take_huge(struct php_look *look)
{
	uint64_t left = sum_of(look->mappings);
	taddr_t at = word_at(look, look->first + look->huge);
	struct php_entry entry;

	for (; at; at = entry.next) {
		if (!read_entry(look, at, &entry))
			break;
		if (!is_huge(look, &entry)) {
			object_sum_add(&look->heap->broken, 0);
			continue;
		}
		if (entry.bytes > left)
			break;
		left -= entry.bytes;
		object_tell_pool(look->observer, entry.block,
				 entry.block + entry.bytes);
		take_large(look, entry.block, entry.bytes);
	}
	if (at)
		object_sum_add(&look->heap->broken, 0);
}

static void forget(struct php_look *look)
{
	struct php_chunk *chunk, *next;
	struct php_seen *seen, *other;

	HASH_ITER(hh, look->chunks, chunk, next) {
		HASH_DEL(look->chunks, chunk);
		free(chunk->free);
		free(chunk->runs);
		free(chunk);
	}
	HASH_ITER(hh, look->seen, seen, other) {
		HASH_DEL(look->seen, seen);
		free(seen);
	}
	php_objects_fini(&look->objects);
}

void php_heap_read(struct memory *memory, const struct mappings *mappings,
		   const struct object_observer *observer,
		   struct object_heap *ret)
{
	struct php_look look = { .memory = memory,
				 .observer = observer,
				 .mappings = mappings,
				 .heap = ret };

	php_objects_init(&look.objects, memory);
	object_heap_scan(mappings, false, look_for_first, &look, &ret->unread);
	if (look.first) {
		find_chunks(&look);
		mark_all_free(&look);
		for (struct php_chunk *chunk = look.chunks; chunk;
		     chunk = chunk->hh.next)
			take_chunk(&look, chunk);
		take_huge(&look);
	}
	object_types_take(&look.objects.types, ret);
	forget(&look);
}
