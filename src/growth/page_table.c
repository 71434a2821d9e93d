/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/page_table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/xalloc.h"

#define PAGE_BITS 12
#define PAGES     512

struct page_block {
	uint64_t key; /* address / (PAGES pages) */
	uint32_t used;
	uint32_t sites[PAGES];
	UT_hash_handle hh;
};

static uint64_t key_of(taddr_t address)
{
	return (address >> PAGE_BITS) / PAGES;
}

static taddr_t address_of(const struct page_block *block, size_t index)
{
	return (block->key * PAGES + index) << PAGE_BITS;
}

void page_table_fini(struct page_table *table)
{
	struct page_block *block, *next;

	HASH_ITER(hh, table->blocks, block, next) {
		HASH_DEL(table->blocks, block);
		free(block);
	}
}

uint32_t page_table_set(struct page_table *table, taddr_t address,
			uint32_t site)
{
	uint64_t key = key_of(address);
	struct page_block *block;
	uint32_t *slot, old;

	HASH_FIND(hh, table->blocks, &key, sizeof(key), block);
	if (!block) {
		block = xcalloc(1, sizeof(*block));
		block->key = key;
		HASH_ADD(hh, table->blocks, key, sizeof(block->key), block);
	}
	slot = &block->sites[(address >> PAGE_BITS) % PAGES];
	old = *slot;
	block->used += !old;
	*slot = site;
	return old;
}

bool page_table_has_near(const struct page_table *table, taddr_t address)
{
	const struct page_block *block;
	uint64_t key = key_of(address);

	HASH_FIND(hh, table->blocks, &key, sizeof(key), block);
	return block;
}

static void take(struct page_table *table, struct page_block *block,
		 taddr_t begin, taddr_t end, struct touched_pages *ret)
{
	for (size_t i = 0; i < PAGES && block->used; i++) {
		taddr_t address = address_of(block, i);

		if (!block->sites[i] || address < begin || address >= end)
			continue;
		ret->items = xgrow(ret->items, ret->count, &ret->room,
				   sizeof(*ret->items));
		ret->items[ret->count++] =
			(struct touched_page){ address, block->sites[i] };
		block->sites[i] = 0;
		block->used--;
	}
	if (block->used)
		return;
	HASH_DEL(table->blocks, block);
	free(block);
}

/* Of a few addresses each is looked up; of more than there are blocks, these
   are gone through. */
void page_table_take(struct page_table *table, taddr_t begin, taddr_t end,
		     struct touched_pages *ret)
{
	struct page_block *block, *next;
	uint64_t key, last;

	if (begin >= end)
		return;
	last = key_of(end - 1);
	if (last - key_of(begin) >= HASH_COUNT(table->blocks)) {
		HASH_ITER(hh, table->blocks, block, next)
			take(table, block, begin, end, ret);
		return;
	}
	for (key = key_of(begin); key <= last; key++) {
		HASH_FIND(hh, table->blocks, &key, sizeof(key), block);
		if (block)
			take(table, block, begin, end, ret);
	}
}

void touched_pages_fini(struct touched_pages *pages)
{
	free(pages->items);
	*pages = (struct touched_pages){ 0 };
}
