/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/reached.h"

#include <stdlib.h>

#include "base/clock.h"
#include "heap/private.h"

void heap_reach_free(struct heap_reach *reach)
{
	if (!reach)
		return;
	for (size_t i = 0; i < reach->count; i++)
		free(reach->sites[i].owner);
	free(reach->sites);
	free(reach->why_not);
	free(reach);
}

void heap_set_reach(struct heap *heap, struct heap_reach *reach)
{
	heap_reach_free(heap->reach);
	heap->reach = reach;
}

const struct heap_reach *heap_reach(const struct heap *heap)
{
	return heap->reach;
}

const struct site_reach *heap_site_reach(const struct heap *heap,
					 const struct site *site)
{
	const struct heap_reach *reach = heap->reach;

	if (!reach || !site->number || site->number > reach->count ||
	    !reach->sites[site->number - 1].blocks)
		return NULL;
	return &reach->sites[site->number - 1];
}

#define ENOUGH_LIFETIMES 8
#define LONGEST_WAY      NS_PER_SECOND

bool heap_block_may_be_under_way(const struct heap_block *block, uint64_t now)
{
	const struct log_histogram *lifetimes = &block->site->lifetimes;
	uint64_t longest = 2 * lifetimes->max;

	if (longest > LONGEST_WAY)
		longest = LONGEST_WAY;
	return lifetimes->count >= ENOUGH_LIFETIMES &&
	       now < block->birth + longest;
}
