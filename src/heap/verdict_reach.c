/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict_reach.h"

#define LISTED 7 /* one in so many of what seems to be leaked */

/*
 * Whether that is of what seems to be leaked. Where others are given back, only
 * old ones seem so, and much that was dropped may be young. Part of it is enough:
 * then the collector hasn't come, and that none was given back says nothing of the
 * others, to which words may lead that are pointers no more.
 */
static bool is_listed(const struct verdict *verdict,
		      const struct site_reach *reach)
{
	if (verdict->reason == VERDICT_OLD_ONES ||
	    verdict->reason == VERDICT_OLD_AND_MORE)
		return LISTED * reach->listed_old >= verdict->old_blocks;
	return LISTED * reach->listed_blocks >= verdict->leaked_blocks;
}

/* What a program has dropped is no leak of it. But the collector that will take
   it may be switched off. */
static void heed_listed(struct verdict *verdict, const struct site_reach *reach)
{
	if (verdict->level == VERDICT_NOT || !reach->listed_blocks ||
	    !is_listed(verdict, reach))
		return;
	verdict->level = VERDICT_POSSIBLE;
	verdict->reason = VERDICT_LISTED;
	verdict->hasty = false;
}

/*
 * What nothing leads to is never given back, however young it is. Where far
 * more is growing beside it, that stays the reason.
 */
void verdict_heed_reach(struct verdict *verdict, const struct site_reach *reach)
{
	verdict->reach = reach;
	if (!reach)
		return;
	heed_listed(verdict, reach);
	if (!reach->lost_blocks)
		return;
	if (verdict->level == VERDICT_LIKELY &&
	    reach->lost_blocks < verdict->leaked_blocks / 2)
		return;
	verdict->level = VERDICT_LIKELY;
	verdict->reason = VERDICT_UNREACHABLE;
	verdict->leaked_blocks = reach->lost_blocks;
	verdict->leaked_bytes = reach->lost_bytes;
	verdict->enough = 0;
	verdict->hasty = false;
}
