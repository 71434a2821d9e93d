/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/heap_shape.h"

#include <stdlib.h>

#include "base/hash.h"
#include "sysdeps/linux/pagemap.h"

#define PAGE 4096

/* malloc/malloc.c: mtrim() leaves the chunk's head where it is, systrim() a
   chunk of the least size. */
#define TRIM_HEAD  48
#define TRIM_LEAST 33

struct shape_pages {
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

static uint64_t resident(struct shape_pages *pages, taddr_t begin, taddr_t end)
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

static void trim_middle(struct shape_pages *pages, taddr_t start, taddr_t end,
			struct heap_shape *ret)
{
	const taddr_t begin = page_up(start + TRIM_HEAD);

	if (end > begin && end - begin >= PAGE)
		ret->trim_resident +=
			resident(pages, begin, begin + page_down(end - begin));
}

static void trim_top(struct shape_pages *pages, const struct glibc_arena *arena,
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
static void trim_part(struct shape_pages *pages, const struct glibc *glibc,
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

#define PINNED_MOST (PAGE / 8)

/*
 * Blocks are gone through by address. Pages are counted when they are left: a
 * part may have far more of them than there is memory.
 */
struct pinned {
	struct shape_pages *pages;
	struct page_run run; /* that was looked up last */
	taddr_t end;         /* of the part */
	taddr_t page;        /* that the last block ends in, … */
	unsigned used;       /* … and bytes in use there */
	taddr_t *list;       /* pages that few bytes keep */
	size_t count, room;
	struct heap_shape *shape;
};

static bool is_there(struct pinned *pinned, taddr_t page)
{
	struct page_run *run = &pinned->run;

	if (page >= run->end && pinned->pages->open &&
	    pagemap_next(&pinned->pages->map, page, pinned->end, run))
		return false;
	if (run->begin >= run->end) /* there are no more */
		*run = (struct page_run){ .begin = UINT64_MAX,
					  .end = UINT64_MAX };
	return page >= run->begin && page < run->end;
}

static void leave_page(struct pinned *pinned)
{
	const unsigned used = pinned->used;

	pinned->used = 0;
	if (!used || used > PINNED_MOST || !is_there(pinned, pinned->page))
		return;
	pinned->list = xgrow(pinned->list, pinned->count, &pinned->room,
			     sizeof(*pinned->list));
	pinned->list[pinned->count++] = pinned->page;
	pinned->shape->pinned_pages++;
	pinned->shape->pinned_used += used;
}

static void use(struct pinned *pinned, taddr_t begin, taddr_t end)
{
	const taddr_t page = page_down(begin);

	if (page != pinned->page)
		leave_page(pinned);
	pinned->page = page;
	pinned->used += (unsigned)(end - begin);
}

/* Pages between the first and the last are the block's alone. */
static void use_block(struct pinned *pinned, const struct block *block)
{
	const taddr_t begin = block_start(block);
	const taddr_t end = begin + block_bytes(block);
	const taddr_t last = page_down(end - 1);

	if (last == page_down(begin)) {
		use(pinned, begin, end);
		return;
	}
	use(pinned, begin, page_down(begin) + PAGE);
	use(pinned, last, end);
}

/* at: the first of the list that doesn't lie before the block. */
static bool pins(const struct pinned *pinned, const struct block *block,
		 size_t *at)
{
	const taddr_t first = page_down(block_start(block));
	const taddr_t last =
		page_down(block_start(block) + block_bytes(block) - 1);

	while (*at < pinned->count && pinned->list[*at] < first)
		++*at;
	if (*at == pinned->count)
		return false;
	return pinned->list[*at] == first || pinned->list[*at] == last ||
	       (*at + 1 < pinned->count && pinned->list[*at + 1] == last);
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
		ret->sizes = xgrow(ret->sizes, ret->size_count, &ret->size_room,
				   sizeof(*ret->sizes));
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

static void look_at_pages(struct shape_pages *pages, const struct glibc *glibc,
			  const struct glibc_part *part,
			  struct size_entry **sizes, struct heap_shape *ret)
{
	const struct block *blocks = &glibc->blocks.list[part->first];
	struct pinned pinned = { .pages = pages,
				 .end = part->end,
				 .shape = ret };
	size_t at = 0;

	for (size_t i = 0; i < part->count; i++)
		if (blocks[i].state == BLOCK_USED)
			use_block(&pinned, &blocks[i]);
	leave_page(&pinned);
	for (size_t i = 0; i < part->count; i++)
		if (blocks[i].state == BLOCK_USED)
			count_size(sizes, &blocks[i],
				   pins(&pinned, &blocks[i], &at));
	free(pinned.list);
}

void heap_shape_find(const struct glibc *glibc, pid_t pid,
		     struct heap_shape *ret)
{
	struct size_entry *sizes = NULL;
	struct shape_pages pages;

	*ret = (struct heap_shape){ .sizes = NULL };
	pages.open = !pagemap_open(&pages.map, pid);
	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		if (part->mapped && part->count) {
			count_size(&sizes, &glibc->blocks.list[part->first],
				   false);
		} else if (!part->mapped && !part->objects && part->count) {
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
