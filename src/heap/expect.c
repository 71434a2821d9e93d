/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/private.h"

#define CACHE_LINE 64

void heap_expect(const struct heap *heap, const struct family *family,
		 uint64_t handle)
{
	live_expect(&heap->ledgers[family->index].live, handle);
	recent_expect(&heap->recent, family, handle);
}

uint32_t heap_expect_block(const struct heap *heap, const struct family *family,
			   uint64_t handle)
{
	const struct live_block *block =
		live_find(&heap->ledgers[family->index].live, handle);

	return block ? block->site : 0;
}

static const struct site *site_at(const struct heap *heap, uint32_t number)
{
	return number ? heap_site(heap, number) : NULL;
}

void heap_expect_site(const struct heap *heap, uint32_t number)
{
	const char *site = (const char *)site_at(heap, number);

	for (size_t i = 0; site && i < sizeof(struct site); i += CACHE_LINE)
		__builtin_prefetch(site + i, 1);
}

void heap_expect_details(const struct heap *heap, uint32_t number)
{
	const struct site *site = site_at(heap, number);

	if (!site)
		return;
	__builtin_prefetch(site->history.points, 1);
	__builtin_prefetch(site->times.buckets, 1);
	__builtin_prefetch(site->sizes.buckets, 1);
	__builtin_prefetch(site->lifetimes.buckets, 1);
}

uint32_t heap_site_number(struct heap *heap, const struct heap_act *act)
{
	const struct site *site = sites_find(&heap->sites, act->stack,
					     act->function,
					     heap_library(heap, act->library));

	return site ? site->number : 0;
}
