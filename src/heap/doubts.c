/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/doubts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "heap/private.h"

/* Those of one pair within so short a time are kept as one; so many items are
   looked at for that, and kept in all. */
#define TOGETHER  (NS_PER_SECOND / 10)
#define LOOK_BACK 16
#define ITEMS_MAX (1u << 16)

struct doubt {
	uint64_t first, last;
	uint64_t count;
	struct incident *incident;
};

void doubts_fini(struct doubts *doubts)
{
	free(doubts->items);
	*doubts = (struct doubts){ 0 };
}

size_t doubts_bytes(const struct doubts *doubts)
{
	return doubts->room * sizeof(*doubts->items);
}

static struct doubt *find(const struct doubts *doubts,
			  const struct incident *incident, uint64_t time)
{
	size_t end = doubts->count < LOOK_BACK ? 0 : doubts->count - LOOK_BACK;

	for (size_t i = doubts->count; i-- > end;) {
		struct doubt *doubt = &doubts->items[i];

		if (doubt->incident == incident &&
		    time < doubt->first + TOGETHER)
			return doubt;
	}
	return NULL;
}

/* The older half is believed. */
static void make_room(struct doubts *doubts)
{
	size_t half = doubts->count / 2;

	if (doubts->count < ITEMS_MAX)
		return;
	memmove(doubts->items, doubts->items + half,
		(doubts->count - half) * sizeof(*doubts->items));
	doubts->count -= half;
}

void doubts_add(struct doubts *doubts, struct incident *incident, uint64_t time)
{
	struct doubt *doubt = find(doubts, incident, time);

	if (!doubt) {
		make_room(doubts);
		doubts->items = xgrow(doubts->items, doubts->count,
				      &doubts->room, sizeof(*doubts->items));
		doubt = &doubts->items[doubts->count++];
		*doubt = (struct doubt){ .first = time, .incident = incident };
	}
	doubt->last = time;
	doubt->count++;
}

static void withdraw(struct heap *heap, const struct doubt *doubt)
{
	const struct family *family = doubt->incident->second_function->family;
	struct heap_total *total = &heap_ledger(heap, family)->total;

	total->double_frees -= doubt->count;
	total->doubtful_frees += doubt->count;
	incidents_withdraw(&heap->incidents, doubt->incident, doubt->count);
}

void doubts_withdraw(struct heap *heap, uint64_t since)
{
	struct doubts *doubts = &heap->doubts;
	size_t kept = 0;

	for (size_t i = 0; i < doubts->count; i++) {
		struct doubt doubt = doubts->items[i];

		if (doubt.last < since) {
			doubts->items[kept++] = doubt;
			continue;
		}
		withdraw(heap, &doubt);
	}
	doubts->count = kept;
}
