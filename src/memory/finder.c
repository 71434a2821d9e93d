/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/finder.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define PAGE_BITS 12

/* A part may claim far more address space than there is memory in it. */
#define PAGES_A_BLOCK 64

static size_t page_of(const struct glibc_part *part, taddr_t address)
{
	return (address >> PAGE_BITS) - (part->start >> PAGE_BITS);
}

/* NULL: few blocks in many pages, or one, need no index. */
static uint32_t *index_part(const struct glibc *glibc,
			    const struct glibc_part *part)
{
	const size_t pages = page_of(part, part->end) + 2;
	const struct block *blocks;
	uint32_t *index;
	size_t block = 0;

	if (part->count < 2 || pages / PAGES_A_BLOCK > part->count)
		return NULL;
	blocks = &glibc->blocks.list[part->first];
	index = xcalloc(pages, sizeof(*index));
	for (size_t page = 0; page < pages; page++) {
		const taddr_t start = ((part->start >> PAGE_BITS) + page)
				      << PAGE_BITS;

		while (block < part->count &&
		       block_start(&blocks[block]) +
				       block_bytes(&blocks[block]) + 8 <=
			       start)
			block++;
		index[page] = (uint32_t)block;
	}
	return index;
}

void finder_init(struct finder *finder, const struct glibc *glibc)
{
	*finder = (struct finder){ .glibc = glibc };
	if (!glibc->part_count)
		return;
	finder->pages = xcalloc(glibc->part_count, sizeof(*finder->pages));
	for (size_t i = 0; i < glibc->part_count; i++)
		finder->pages[i] = index_part(glibc, &glibc->parts[i]);
	finder->low = glibc->parts[0].start;
	finder->span = glibc->parts[glibc->part_count - 1].end - finder->low;
}

void finder_fini(struct finder *finder)
{
	for (size_t i = 0; finder->pages && i < finder->glibc->part_count; i++)
		free(finder->pages[i]);
	free(finder->pages);
	*finder = (struct finder){ .glibc = NULL };
}

static bool holds(const struct glibc_part *part, taddr_t address)
{
	return address >= part->start && address < part->end;
}

static bool find_part(struct finder *finder, taddr_t address)
{
	const struct glibc *glibc = finder->glibc;
	size_t low = 0, high = glibc->part_count;

	if (holds(&glibc->parts[finder->last], address))
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address < glibc->parts[middle].start) {
			high = middle;
		} else if (address >= glibc->parts[middle].end) {
			low = middle + 1;
		} else {
			finder->last = middle;
			return true;
		}
	}
	return false;
}

/* The last of [low, high) that begins at the address or before, or low. */
static size_t search(const struct block *blocks, size_t low, size_t high,
		     taddr_t address)
{
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (blocks[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct block *finder_look(struct finder *finder, taddr_t address)
{
	const struct glibc_part *part;
	const uint32_t *index;
	struct block *blocks;
	size_t i, end;

	if (!finder_may_have(finder, address) || !find_part(finder, address))
		return NULL;
	part = &finder->glibc->parts[finder->last];
	if (!part->count)
		return NULL;
	blocks = &finder->glibc->blocks.list[part->first];
	index = finder->pages[finder->last];
	if (index) {
		const size_t page = page_of(part, address);

		end = index[page + 1] + 1;
		if (end > part->count)
			end = part->count;
		if (index[page] >= end)
			return NULL;
		i = search(blocks, index[page], end, address);
	} else {
		i = search(blocks, 0, part->count, address);
	}
	return blocks[i].state == BLOCK_USED && !blocks[i].own &&
			       address - blocks[i].address <
				       block_usable(&blocks[i]) ?
		       &blocks[i] :
		       NULL;
}
