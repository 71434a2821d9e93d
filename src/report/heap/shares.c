/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/shares.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* So many are told apart: a profile is no list of blocks. */
#define SHARES_MAX 20000

struct heap_shares {
	struct heap_share *all;    /* by key */
	struct heap_share **first; /* by the site's number - 1 */
};

static struct heap_share *share_of(struct heap_shares *shares,
				   const struct heap_block *block)
{
	const struct heap_share_key key = { block->site->number, block->tid };
	struct heap_share *share;

	HASH_FIND(hh, shares->all, &key, sizeof(key), share);
	if (share || HASH_COUNT(shares->all) >= SHARES_MAX)
		return share;
	share = xcalloc(1, sizeof(*share));
	share->key = key;
	share->next = shares->first[key.site - 1];
	shares->first[key.site - 1] = share;
	HASH_ADD(hh, shares->all, key, sizeof(key), share);
	return share;
}

static bool counts(const struct heap_export *export,
		   const struct heap_block *block)
{
	uint64_t age = export->now > block->birth ? export->now - block->birth :
						    0;

	return block->tid && age >= export->config->options->older_than &&
	       block->site->function->family->has_size &&
	       !heap_site_thread(export->process->heap, block->site);
}

struct heap_shares *heap_shares_new(const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	struct heap_shares *shares = xcalloc(1, sizeof(*shares));
	struct heap_walk walk = { 0 };
	struct heap_block block;

	shares->first =
		xcalloc(heap_site_count(heap) + 1, sizeof(*shares->first));
	while (heap_next_block(heap, &walk, &block)) {
		struct heap_share *share = counts(export, &block) ?
						   share_of(shares, &block) :
						   NULL;

		if (!share)
			continue;
		share->blocks += block.weight.count;
		share->bytes += block.weight.count * block.size;
	}
	return shares;
}

void heap_shares_free(struct heap_shares *shares)
{
	struct heap_share *share, *next;

	HASH_ITER(hh, shares->all, share, next) {
		HASH_DEL(shares->all, share);
		free(share);
	}
	free(shares->first);
	free(shares);
}

const struct heap_share *heap_shares_of(const struct heap_shares *shares,
					const struct site *site)
{
	return shares->first[site->number - 1];
}
