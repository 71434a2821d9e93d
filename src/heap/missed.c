/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "heap/private.h"
#include "heap/survey.h"

/* What becomes of the books when calls have gone by unseen. */

#define LIFETIMES 3

/*
 * A block may have been given back unseen if it was of an age by then at which
 * blocks of its site are given back. Of what never is, none will have been.
 */
static bool may_be_gone(const struct site *site, uint64_t birth, uint64_t since,
			uint64_t until)
{
	uint64_t usual = site_usual_lifetime(site);

	if (!usual && site->first_time < since)
		return false;
	if (birth > until)
		return false;
	return birth >= since || since - birth <= LIFETIMES * usual;
}

/* Handles only: what unmaps ranges is hardly ever missed alone. */
static uint64_t *doubted_handles(const struct heap *heap, size_t family,
				 uint64_t since, uint64_t until,
				 size_t *count_ret)
{
	struct heap_walk walk = { .family = family };
	struct heap_block block;
	uint64_t *handles = NULL;
	size_t room = 0, n = 0;

	while (heap_next_block(heap, &walk, &block) && walk.family == family) {
		if (!may_be_gone(block.site, block.birth, since, until))
			continue;
		handles = xgrow(handles, n, &room, sizeof(*handles));
		handles[n++] = block.handle;
	}
	*count_ret = n;
	return handles;
}

static void forget(struct heap *heap, struct ledger *ledger, uint64_t handle,
		   uint64_t time)
{
	struct live_block block;

	if (!live_remove(&ledger->live, handle, &block))
		return;
	ledger->total.forgotten++;
	handles_gone(heap, ledger->family, &block, time, GONE_REPLACED);
}

void heap_missed(struct heap *heap, uint64_t since, uint64_t until)
{
	since = heap_time(heap, since);
	until = heap_time(heap, until);
	doubts_withdraw(heap, since);
	heap->missed_until = until;
	heap_forget_latest(heap);
	for (size_t i = 0; i < heap->ledger_count; i++) {
		struct ledger *ledger = &heap->ledgers[i];
		size_t count;
		uint64_t *handles CLEANUP(xfree_cleanup) = NULL;

		if (ledger->family->granularity)
			continue;
		handles = doubted_handles(heap, i, since, until, &count);
		for (size_t k = 0; k < count; k++)
			forget(heap, ledger, handles[k], until);
	}
}
