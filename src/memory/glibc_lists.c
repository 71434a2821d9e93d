/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "memory/glibc_private.h"

/* Lists of free blocks of one size, which look used otherwise: the fastbins of
   arenas, and the caches of threads. */

/* Lists that lead nowhere may lead there again and again. */
#define STEPS_A_BLOCK 8
#define STEPS_LEAST   1000000

struct lists {
	struct window *window;
	struct glibc *glibc;
	uint64_t steps; /* that may still be taken, by all of them */
	bool known;     /* whether pointers are scrambled */
};

struct list {
	taddr_t first;    /* block */
	uint64_t units;   /* that each must have */
	uint64_t most;    /* blocks; longer ones are broken */
	bool exactly;     /* … and shorter ones, too */
	unsigned to_user; /* from what pointers point at to the block */
	enum block_state state;
};

static taddr_t reveal(taddr_t where, uint64_t value, bool scrambled)
{
	return scrambled ? (where >> 12) ^ value : value;
}

/* Goes along a list; false when it leads to what is no such block. */
static bool follow(struct lists *lists, const struct list *list, bool scrambled,
		   bool mark)
{
	taddr_t at = list->first;
	uint64_t count = 0;

	while (at) {
		struct block *block =
			blocks_at(&lists->glibc->blocks, at + list->to_user);
		uint64_t word;

		if (!lists->steps || !block || block->units != list->units ||
		    block->mapped || count++ >= list->most ||
		    (block->state != BLOCK_USED && !mark) ||
		    memory_read(&lists->window->memory, block->address, &word,
				sizeof(word)))
			return false;
		lists->steps--;
		if (mark)
			block->state = list->state;
		at = reveal(block->address, word, scrambled);
	}
	return !list->exactly || count == list->most;
}

/* Since 2.32 pointers are scrambled: which it is, the first list tells. */
static bool take(struct lists *lists, const struct list *list)
{
	bool scrambled = lists->glibc->scrambled;

	if (!lists->known)
		scrambled = follow(lists, list, true, false);
	if (!follow(lists, list, scrambled, false))
		return false;
	lists->glibc->scrambled = scrambled;
	lists->known = true;
	return follow(lists, list, scrambled, true);
}

static void take_fastbins(struct lists *lists, const struct glibc_arena *arena)
{
	uint64_t heads[ARENA_FAST_COUNT];

	if (memory_read(&lists->window->memory, arena->address + ARENA_FAST,
			heads, sizeof(heads)))
		return;
	for (unsigned i = 0; i < ARENA_FAST_COUNT; i++) {
		const struct list list = {
			.first = heads[i],
			.units = i + 2,
			.most = lists->glibc->blocks.count,
			.to_user = BLOCK_UNIT,
			.state = BLOCK_FAST,
		};

		if (heads[i] && !take(lists, &list))
			lists->glibc->bad_lists++;
	}
}

struct cache {
	uint16_t counts[CACHE_BINS];
	uint64_t lists[CACHE_BINS];
};

static bool looks_like_cache(const struct cache *cache)
{
	bool any = false;

	for (unsigned i = 0; i < CACHE_BINS; i++) {
		if (!cache->counts[i] != !cache->lists[i] ||
		    cache->lists[i] % BLOCK_UNIT)
			return false;
		any |= cache->counts[i] != 0;
	}
	return any;
}

static struct list list_of(const struct cache *cache, unsigned bin)
{
	return (struct list){
		.first = cache->lists[bin],
		.units = bin + 2,
		.most = cache->counts[bin],
		.exactly = true,
		.state = BLOCK_TCACHE,
	};
}

/* Its lists must be right to the last pointer: it is known by nothing else. */
static bool is_cache(struct lists *lists, const struct cache *cache,
		     bool scrambled)
{
	for (unsigned i = 0; i < CACHE_BINS; i++) {
		const struct list list = list_of(cache, i);

		if (list.first && !follow(lists, &list, scrambled, false))
			return false;
	}
	return true;
}

static void take_cache(struct lists *lists, struct block *block)
{
	bool scrambled = lists->glibc->scrambled || !lists->known;
	struct cache cache;

	if (memory_read(&lists->window->memory, block->address, &cache,
			sizeof(cache)) ||
	    !looks_like_cache(&cache))
		return;
	if (!is_cache(lists, &cache, scrambled)) {
		if (lists->known || !is_cache(lists, &cache, false))
			return;
		scrambled = false;
	}
	lists->known = true;
	lists->glibc->scrambled = scrambled;
	block->own = true;
	lists->glibc->caches++;
	for (unsigned i = 0; i < CACHE_BINS; i++) {
		const struct list list = list_of(&cache, i);

		if (list.first)
			(void)follow(lists, &list, scrambled, true);
	}
}

static bool is_cache_size(const struct block *block)
{
	return block->units == CACHE_SIZE / BLOCK_UNIT + 1 &&
	       block->state == BLOCK_USED;
}

/* One that has nothing has no lists to know it by. But it is what a thread acquires
   first of all, and so first in its arena. */
static void take_empty_cache(struct lists *lists, struct block *block)
{
	static const struct cache empty;
	struct cache cache;

	if (!is_cache_size(block) || block->own ||
	    memory_read(&lists->window->memory, block->address, &cache,
			sizeof(cache)) ||
	    memcmp(&cache, &empty, sizeof(cache)) != 0)
		return;
	block->own = true;
	lists->glibc->caches++;
}

static void take_empty_caches(struct lists *lists)
{
	struct glibc *glibc = lists->glibc;
	bool *seen CLEANUP(xfree_cleanup) =
		xcalloc(glibc->arena_count + 1, sizeof(*seen));

	for (size_t i = 0; i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		if (part->mapped || seen[part->arena])
			continue;
		seen[part->arena] = true;
		if (part->count)
			take_empty_cache(lists,
					 &glibc->blocks.list[part->first]);
	}
}

void glibc_mark_lists(struct window *window, struct glibc *glibc)
{
	struct blocks *blocks = &glibc->blocks;
	struct lists lists = {
		.window = window,
		.glibc = glibc,
		.steps = STEPS_A_BLOCK * (uint64_t)blocks->count + STEPS_LEAST,
	};

	window_forget(window);
	for (size_t i = 0; i < glibc->arena_count; i++)
		take_fastbins(&lists, &glibc->arenas[i]);
	for (size_t i = 0; i < blocks->count; i++)
		if (is_cache_size(&blocks->list[i]))
			take_cache(&lists, &blocks->list[i]);
	take_empty_caches(&lists);
}
