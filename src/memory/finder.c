/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/finder.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define WORD_BITS  64
#define WORD_BYTES (WORD_BITS * BLOCK_UNIT)

/* A part may claim far more address space than there is memory in it. */
#define WORDS_A_BLOCK 256

static uint64_t unit_of(const struct glibc_part *part, taddr_t address)
{
	return (address - (part->start & ~(taddr_t)(BLOCK_UNIT - 1))) /
	       BLOCK_UNIT;
}

/* None: few blocks in much memory, or one, need no index. */
static struct finder_part index_part(const struct glibc *glibc,
				     const struct glibc_part *part)
{
	const size_t count = (part->end - part->start) / WORD_BYTES + 2;
	const struct block *blocks;
	struct finder_part index = { .words = NULL };
	struct finder_word *words;
	size_t word = 0;

	if (part->count < 2 || count / WORDS_A_BLOCK > part->count)
		return index;
	blocks = &glibc->blocks.list[part->first];
	words = xcalloc(count, sizeof(*words));
	for (size_t i = 0; i < part->count; i++) {
		const uint64_t unit = unit_of(part, blocks[i].address);
		const uint64_t bit = UINT64_C(1) << unit % WORD_BITS;

		while (word < unit / WORD_BITS)
			words[++word].before = (uint32_t)i;
		/* Pieces of 8 bytes: a bit can't tell them apart. */
		if (words[word].begins & bit) {
			free(words);
			return index;
		}
		words[word].begins |= bit;
		index.shared |= blocks[i].address % BLOCK_UNIT != 0;
	}
	while (++word < count)
		words[word].before = (uint32_t)part->count;
	index.words = words;
	return index;
}

void finder_init(struct finder *finder, const struct glibc *glibc)
{
	*finder = (struct finder){ .glibc = glibc };
	if (!glibc->part_count)
		return;
	finder->parts = xcalloc(glibc->part_count, sizeof(*finder->parts));
	for (size_t i = 0; i < glibc->part_count; i++)
		finder->parts[i] = index_part(glibc, &glibc->parts[i]);
	finder->low = glibc->parts[0].start;
	finder->span = glibc->parts[glibc->part_count - 1].end - finder->low;
}

void finder_fini(struct finder *finder)
{
	for (size_t i = 0; finder->parts && i < finder->glibc->part_count; i++)
		free(finder->parts[i].words);
	free(finder->parts);
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

/* How many begin at the address or before. */
static size_t count_until(const struct finder_word *words, uint64_t unit)
{
	const struct finder_word *word = &words[unit / WORD_BITS];
	const uint64_t until = word->begins
			       << (WORD_BITS - 1 - unit % WORD_BITS);

	return word->before + (unsigned)__builtin_popcountll(until);
}

/* The same, where there is no index. */
static size_t search(const struct block *blocks, size_t count, taddr_t address)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (blocks[middle].address <= address)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

struct block *finder_guess(struct finder *finder, taddr_t address)
{
	const struct glibc_part *part;
	const struct finder_part *index;
	struct block *blocks;
	size_t count;

	if (!finder_may_have(finder, address) || !find_part(finder, address))
		return NULL;
	part = &finder->glibc->parts[finder->last];
	index = &finder->parts[finder->last];
	blocks = &finder->glibc->blocks.list[part->first];
	count = index->words ?
			count_until(index->words, unit_of(part, address)) :
			search(blocks, part->count, address);
	/* Of two in these bytes it may be the one before. */
	if (index->shared && count && blocks[count - 1].address > address)
		count--;
	return count ? &blocks[count - 1] : NULL;
}

struct block *finder_look(struct finder *finder, taddr_t address)
{
	struct block *block = finder_guess(finder, address);

	return block && finder_is_in(block, address) ? block : NULL;
}
