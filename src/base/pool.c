/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct pool_block {
	struct pool_block *previous;
	max_align_t bytes[];
};

void *pool_alloc(struct pool *pool, size_t size)
{
	struct pool_block *block = xcalloc(1, sizeof(*block) + size);

	block->previous = pool->last;
	pool->last = block;
	return block->bytes;
}

void *pool_copy(struct pool *pool, const void *bytes, size_t size)
{
	void *copy = pool_alloc(pool, size);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

char *pool_strndup(struct pool *pool, const char *s, size_t n)
{
	char *copy = pool_alloc(pool, n + 1);

	memcpy(copy, s, n);
	return copy;
}

void pool_fini(struct pool *pool)
{
	while (pool->last) {
		struct pool_block *block = pool->last;

		pool->last = block->previous;
		free(block);
	}
}
