/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_POOL_H
#define CALLTRAP_POOL_H

#include "base/types.h"

/* Memory that is given back all at once. A zeroed pool is empty and ready. */
struct pool {
	struct pool_block *last;
};

/* Zeroed memory, good until pool_fini(). */
void *pool_alloc(struct pool *pool, size_t size) MUST_CHECK;
void *pool_copy(struct pool *pool, const void *bytes, size_t size) MUST_CHECK;
char *pool_strndup(struct pool *pool, const char *s, size_t n) MUST_CHECK;

void pool_fini(struct pool *pool);

#endif
