/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/heap_shape.h"

#include <stdlib.h>

#include "base/hash.h"
#include "sysdeps/linux/pagemap.h"

#define PAGE 4096

/* malloc/malloc.c: mtrim() leaves the chunk's head where it is, systrim() a
   chunk of the least size. */
#define TRIM_HEAD 48
#define TRIM_LEAST 33

struct pages {
	struct pagemap map;
	bool open;
};

static taddr_t page_up(taddr_t address)
{
	return (address + PAGE - 1) & ~(taddr_t)(PAGE - 1);
}

static taddr_t page_down(taddr_t address)
{
	return address & ~(taddr_t)(PAGE - 1);
}

static uint64_t resident(struct pages *pages, taddr_t begin, taddr_t end)
{
	uint64_t bytes = 0;
	struct page_run run;

	while (pages->open && begin < end &&
	       !pagemap_next(&pages->map, begin, end, &run) &&
	       run.begin < run.end) {
		bytes += run.end - run.begin;
		begin = run.end;
	}
	return bytes;
}

/* ---- what malloc_trim(0) would do ---- */

static void trim_middle(struct pages *pages, taddr_t start, taddr_t end,
			struct heap_shape *ret)
{
	const taddr_t begin = page_up(start + TRIM_HEAD);

	if (end > begin && end - begin >= PAGE)
		ret->trim_resident += resident(pages, begin,
					       begin + page_down(end - begin));
}

static void trim_top(struct pages *pages, const struct glibc_arena *arena,
		     taddr_t start, taddr_t end, struct heap_shape *ret)
{
	uint64_t bytes;

	if (!arena->main) {
		ret->top_resident += resident(pages, page_up(start), end);
		return;
	}
	if (end - start <= TRIM_LEAST)
		return;
	bytes = page_down(end - start - TRIM_LEAST);
	ret->trim_virtual += bytes;
	ret->trim_resident += resident(pages, end - bytes, end);
}

/* Fastbins are emptied before, and their blocks joined with what is free. */
static void trim_part(struct pages *pages, const struct glibc *glibc,
		      const struct glibc_part *part, struct heap_shape *ret)
{
	const struct block *block = &glibc->blocks.list[part->first];
	const struct block *end = block + part->count;
	taddr_t start = 0;

	for (; block < end; block++) {
		const bool top = block->state == BLOCK_TOP;

		if (top || block->state == BLOCK_FREE ||
		    block->state == BLOCK_FAST) {
			if (!start)
				start = block_start(block);
			if (top)
				trim_top(pages, &glibc->arenas[part->arena],
					 start,
					 block_start(block) +
						 block_bytes(block),
					 ret);
		} else if (start) {
			trim_middle(pages, start, block_start(block), ret);
			start = 0;
		}
	}
}

/* ---- pages that few bytes keep ---- */

struct part_pages {
	taddr_t first;
	size_t count;
	uint16_t *used; /* bytes in use of each */
	bool *there;
};

#define PINNED_MOST (PAGE / 8)

static bool is_pinned(const struct part_pages *pages, size_t page)
{
	return pages->there[page] && pages->used[page] &&
	       pages->used[page] <= PINNED_MOST;
}

static void note_resident(struct pages *pages, struct part_pages *part)
{
	const taddr_t end = part->first + part->count * PAGE;
	taddr_t begin = part->first;
	struct page_run run;

	while (pages->open && begin < end &&
	       !pagemap_next(&pages->map, begin, end, &run) &&
	       run.begin < run.end) {
		for (begin = run.begin; begin < run.end; begin += PAGE)
			part->there[(begin - part->first) / PAGE] = true;
	}
}

static void note_used(struct part_pages *part, const struct block *block)
{
	const taddr_t end = block_start(block) + block_bytes(block);
	taddr_t begin = block_start(block);

	while (begin < end) {
		const size_t page = (begin - part->first) / PAGE;
		taddr_t next = part->first + (page + 1) * PAGE;

		if (next > end)
			next = end;
		part->used[page] += (uint16_t)(next - begin);
		begin = next;
	}
}

static bool pins(const struct part_pages *part, const struct block *block)
{
	const taddr_t start = block_start(block) - part->first;
	const size_t last = (start + block_bytes(block) - 1) / PAGE;

	return is_pinned(part, start / PAGE) || is_pinned(part, last);
}

/* ---- sizes ---- */

struct size_entry {
	uint32_t units;
	uint64_t count, pinning;
	UT_hash_handle hh;
};

static void count_size(struct size_entry **table, const struct block *block,
		       bool pinning)
{
	struct size_entry *entry;

	HASH_FIND(hh, *table, &block->units, sizeof(block->units), entry);
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->units = block->units;
		HASH_ADD(hh, *table, units, sizeof(entry->units), entry);
	}
	entry->count++;
	entry->pinning += pinning;
}

static int compare_sizes(const void *a, const void *b)
{
	const struct heap_size *x = a, *y = b;
	const uint64_t first = x->bytes * x->count;
	const uint64_t second = y->bytes * y->count;

	if (first != second)
		return first > second ? -1 : 1;
	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static void take_sizes(struct size_entry *table, struct heap_shape *ret)
{
	struct size_entry *entry, *next;

	HASH_ITER(hh, table, entry, next) {
		ret->sizes = xgrow(ret->sizes, ret->size_count,
				   &ret->size_room, sizeof(*ret->sizes));
		ret->sizes[ret->size_count++] = (struct heap_size){
			.bytes = (uint64_t)entry->units * BLOCK_UNIT,
			.count = entry->count,
			.pinning = entry->pinning,
		};
		HASH_DEL(table, entry);
		free(entry);
	}
	if (ret->size_count)
		qsort(ret->sizes, ret->size_count, sizeof(*ret->sizes),
		      compare_sizes);
}

static void look_at_pages(struct pages *pages, const struct glibc *glibc,
			  const struct glibc_part *part,
			  struct size_entry **sizes, struct heap_shape *ret)
{
	const struct block *blocks = &glibc->blocks.list[part->first];
	struct part_pages p = { .first = page_down(part->start) };

	p.count = (page_up(part->end) - p.first) / PAGE;
	p.used = xcalloc(p.count, sizeof(*p.used));
	p.there = xcalloc(p.count, sizeof(*p.there));
	note_resident(pages, &p);
	for (size_t i = 0; i < part->count; i++)
		if (blocks[i].state == BLOCK_USED)
			note_used(&p, &blocks[i]);
	for (size_t i = 0; i < part->count; i++)
		if (blocks[i].state == BLOCK_USED)
			count_size(sizes, &blocks[i], pins(&p, &blocks[i]));
	for (size_t i = 0; i < p.count; i++)
		if (is_pinned(&p, i)) {
			ret->pinned_pages++;
			ret->pinned_used += p.used[i];
		}
	free(p.used);
	free(p.there);
}

void heap_shape_find(const struct glibc *glibc, pid_t pid,
		     struct heap_shape *ret)
{
	struct size_entry *sizes = NULL;
	struct pages pages;

	*ret = (struct heap_shape){ .sizes = NULL };
	pages.open = !pagemap_open(&pages.map, pid);
	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		if (part->mapped && part->count) {
			count_size(&sizes, &glibc->blocks.list[part->first],
				   false);
		} else if (!part->mapped && part->count) {
			trim_part(&pages, glibc, part, ret);
			look_at_pages(&pages, glibc, part, &sizes, ret);
		}
	}
	take_sizes(sizes, ret);
	if (pages.open)
		pagemap_close(&pages.map);
}

void heap_shape_fini(struct heap_shape *shape)
{
	free(shape->sizes);
	*shape = (struct heap_shape){ .sizes = NULL };
}
