/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/blocks.h"

#include <stdlib.h>

#include "base/xalloc.h"

void blocks_init(struct blocks *blocks)
{
	*blocks = (struct blocks){ .room = 64 };
	blocks->list = xcalloc(blocks->room, sizeof(*blocks->list));
}

void blocks_fini(struct blocks *blocks)
{
	free(blocks->list);
	*blocks = (struct blocks){ 0 };
}

void blocks_add(struct blocks *blocks, const struct block *block)
{
	blocks->list = xgrow(blocks->list, blocks->count, &blocks->room,
			     sizeof(*blocks->list));
	blocks->list[blocks->count++] = *block;
}

/* The last block that begins there or before, or NULL. */
static struct block *blocks_before(const struct blocks *blocks, taddr_t address)
{
	size_t low = 0, high = blocks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (blocks->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &blocks->list[low - 1] : NULL;
}

struct block *blocks_at(const struct blocks *blocks, taddr_t address)
{
	struct block *block = blocks_before(blocks, address);

	return block && block->address == address ? block : NULL;
}

struct block *blocks_around(const struct blocks *blocks, taddr_t address)
{
	struct block *block = blocks_before(blocks, address);

	return block && block_is_used(block) && block_has(block, address) ?
		       block :
		       NULL;
}
