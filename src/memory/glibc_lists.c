/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "memory/glibc_private.h"

/* Lists of free blocks of one size, which look used otherwise: the fastbins of
   arenas, and the caches of threads. */

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
static bool follow(struct window *window, struct glibc *glibc,
		   const struct list *list, bool scrambled, bool mark)
{
	taddr_t at = list->first;
	uint64_t count = 0;

	while (at) {
		struct block *block =
			blocks_at(&glibc->blocks, at + list->to_user);
		uint64_t word;

		if (!block || block->units != list->units || block->mapped ||
		    count++ >= list->most ||
		    (block->state != BLOCK_USED && !mark) ||
		    memory_read(&window->memory, block->address, &word,
				sizeof(word)))
			return false;
		if (mark)
			block->state = list->state;
		at = reveal(block->address, word, scrambled);
	}
	return !list->exactly || count == list->most;
}

/* Since 2.32 pointers are scrambled: which it is, the first list tells. */
static bool take(struct window *window, struct glibc *glibc,
		 const struct list *list, bool *known)
{
	bool scrambled = glibc->scrambled;

	if (!*known)
		scrambled = follow(window, glibc, list, true, false);
	if (!follow(window, glibc, list, scrambled, false))
		return false;
	glibc->scrambled = scrambled;
	*known = true;
	return follow(window, glibc, list, scrambled, true);
}

static void take_fastbins(struct window *window, struct glibc *glibc,
			  const struct glibc_arena *arena, bool *known)
{
	uint64_t heads[ARENA_FAST_COUNT];

	if (memory_read(&window->memory, arena->address + ARENA_FAST, heads,
			sizeof(heads)))
		return;
	for (unsigned i = 0; i < ARENA_FAST_COUNT; i++) {
		const struct list list = {
			.first = heads[i],
			.units = i + 2,
			.most = glibc->blocks.count,
			.to_user = BLOCK_UNIT,
			.state = BLOCK_FAST,
		};

		if (heads[i] && !take(window, glibc, &list, known))
			glibc->bad_lists++;
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
static bool is_cache(struct window *window, struct glibc *glibc,
		     const struct cache *cache, bool scrambled)
{
	for (unsigned i = 0; i < CACHE_BINS; i++) {
		const struct list list = list_of(cache, i);

		if (list.first &&
		    !follow(window, glibc, &list, scrambled, false))
			return false;
	}
	return true;
}

static void take_cache(struct window *window, struct glibc *glibc,
		       struct block *block, bool *known)
{
	struct cache cache;
	bool scrambled = glibc->scrambled || !*known;

	if (memory_read(&window->memory, block->address, &cache,
			sizeof(cache)) ||
	    !looks_like_cache(&cache))
		return;
	if (!is_cache(window, glibc, &cache, scrambled)) {
		if (*known || !is_cache(window, glibc, &cache, false))
			return;
		scrambled = false;
	}
	*known = true;
	glibc->scrambled = scrambled;
	block->own = true;
	glibc->caches++;
	for (unsigned i = 0; i < CACHE_BINS; i++) {
		const struct list list = list_of(&cache, i);

		if (list.first)
			(void)follow(window, glibc, &list, scrambled, true);
	}
}

void glibc_mark_lists(struct window *window, struct glibc *glibc)
{
	struct blocks *blocks = &glibc->blocks;
	bool known = false;

	window_forget(window);
	for (size_t i = 0; i < glibc->arena_count; i++)
		take_fastbins(window, glibc, &glibc->arenas[i], &known);
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->list[i].units == CACHE_SIZE / BLOCK_UNIT + 1 &&
		    blocks->list[i].state == BLOCK_USED)
			take_cache(window, glibc, &blocks->list[i], &known);
}
