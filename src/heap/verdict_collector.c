/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict_collector.h"

#include "heap/slab.h"

/*
 * What outlives its kind among what JavaScript has asked for has only outlived the
 * collections of young objects: old ones go when all are collected, which may take
 * minutes. And as its code is compiled anew it comes by new stacks, by which none was
 * given back yet.
 */
static void heed_owner(const struct site *site, const struct survey *survey,
		       struct verdict *verdict)
{
	uint64_t seen = survey_seen(survey, site);

	if (verdict->reason == VERDICT_OLD_AND_MORE) {
		verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_OWNED);
	} else if (verdict->reason == VERDICT_NEVER_FREED && seen &&
		   seen < VERDICT_ENOUGH) {
		verdict->level = VERDICT_POSSIBLE;
		verdict->enough = verdict->watched / seen * VERDICT_ENOUGH;
	}
}

/* However few they are, and for how long ever they are watched. */
static void heed_own_collector(struct verdict *verdict)
{
	if (verdict->level == VERDICT_NOT)
		return;
	verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_COLLECTED);
	verdict->enough = 0;
	verdict->hasty = false;
}

void verdict_heed_collector(const struct heap *heap, const struct site *site,
			    const struct survey *survey,
			    struct verdict *verdict)
{
	const struct stacks *stacks = heap_stacks(heap);
	struct namer *namer = heap_namer(heap);

	if (site->function->family->collected)
		heed_own_collector(verdict);
	if (verdict->level != VERDICT_LIKELY)
		return;
	if (slab_of_collector(stacks, namer, site))
		verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_COLLECTED);
	else if (slab_owner_is_collected(stacks, namer, site))
		heed_owner(site, survey, verdict);
}
