/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict.h"

#include "base/clock.h"
#include "heap/lows.h"
#include "heap/verdict_collector.h"
#include "heap/verdict_reach.h"

/*
 * The limits below were tuned with tests/corpus, whose programs differ in
 * kind; tests/corpus/evaluate.py prints what they come to.
 */
#define FEW_BLOCKS   4 /* a leak leaves as many */
#define SURE_BLOCKS  8 /* what a program needs once rarely comes to as many */
#define RISES        2.33 /* evidence: 99 % */
#define STEADY       0.5
#define VERY_STEADY  0.75
#define SLOWED       0.4 /* against what was added at the beginning */
#define SLOWED_MUCH  0.12
#define LAST_PART    5 /* of the time, in which it may have ended */
#define BACKLOG_PART 8 /* of the time, the oldest has waited */
#define LARGER_MUCH  1.5
#define HASTY        (NS_PER_SECOND / 2)

static bool stopped_rising(const double *numbers, const struct lows *lows,
			   struct verdict *verdict)
{
	return lows_stopped(lows, numbers, verdict->watched, &verdict->silence);
}

static bool rises(const double *numbers, const struct lows *lows,
		  struct verdict *verdict)
{
	verdict->trend = trend_of(numbers, lows->count);
	verdict->steadiness = lows_steadiness(numbers, lows->count);
	return verdict->trend.evidence >= RISES &&
	       verdict->steadiness >= STEADY;
}

/* Whether there were more of what is never given back in the last part of the
   time. */
static bool came_late(const struct site *site, const struct lows *lows)
{
	unsigned then = lows->count - 1 - lows->count / LAST_PART;

	return site->blocks > lows->blocks[then];
}

static bool has_slowed(const struct lows *lows, double limit)
{
	return lows_late_share(lows, 1.0 / 3) < limit &&
	       !lows_may_be_chance(lows, 1.0 / 3);
}

/*
 * Code that runs for the first time keeps some blocks, a few here and there, and
 * that may take as long as is watched. Nobody opens descriptors, connections and
 * the like by the way.
 */
static bool are_enough(const struct site *site)
{
	return site->blocks >= SURE_BLOCKS || !site->function->family->has_size;
}

/* In an idle process, it may have been the end of a growth or of all work. */
static void judge_never_freed(const struct site *site, const struct lows *lows,
			      struct verdict *verdict)
{
	bool stopped = stopped_rising(lows->blocks, lows, verdict);
	bool rising = rises(lows->blocks, lows, verdict);
	bool late = came_late(site, lows);

	if (stopped && !late)
		verdict_say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (!late && has_slowed(lows, SLOWED_MUCH))
		verdict_say(verdict, VERDICT_NOT, VERDICT_SLOWED);
	else if (stopped || has_slowed(lows, SLOWED))
		verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_SLOWED);
	else
		verdict_say(verdict,
			    rising && !verdict->idle && are_enough(site) ?
				    VERDICT_LIKELY :
				    VERDICT_POSSIBLE,
			    VERDICT_NEVER_FREED);
}

/*
 * Where much comes and goes, a few that stay don't show in the low water for
 * a while. But those that are old by now were born all the time, until just
 * before such could be old.
 */
static bool old_go_on(const struct site *site, const struct survey_site *ages,
		      const struct verdict *verdict)
{
	uint64_t limit = site_old_age(site);
	double could = verdict->watched > limit ? verdict->watched - limit : 0;
	double born = ages->last_old_birth > site->first_time ?
			      ages->last_old_birth - site->first_time :
			      0;

	return ages->old >= FEW_BLOCKS && ages->seen_old_in_last_half &&
	       !lows_are_silent(could - born, could, born / ages->old);
}

static void judge_freed(const struct site *site, const struct survey_site *ages,
			const struct lows *lows, struct verdict *verdict)
{
	bool goes_on = old_go_on(site, ages, verdict);
	bool stopped = stopped_rising(lows->blocks, lows, verdict);
	bool rising = rises(lows->blocks, lows, verdict);

	if (rising && !stopped && ages->old >= FEW_BLOCKS - 1 &&
	    ages->seen_old_in_last_half)
		verdict_say(verdict, VERDICT_LIKELY, VERDICT_OLD_AND_MORE);
	else if (rising && !stopped && verdict->steadiness >= VERY_STEADY &&
		 verdict->oldest > verdict->watched / BACKLOG_PART &&
		 lows_late_share(lows, 0.4) >= SLOWED)
		verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_BACKLOG);
	else if (goes_on || (ages->seen_very_old >= FEW_BLOCKS - 1 &&
			     ages->seen_old_in_last_half && !stopped))
		verdict_say(verdict, VERDICT_POSSIBLE, VERDICT_OLD_ONES);
	else if (stopped && ages->old)
		verdict_say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (!ages->old)
		verdict_say(verdict, VERDICT_NOT, VERDICT_TURNOVER);
	else
		verdict_say(verdict, VERDICT_NOT, VERDICT_UP_AND_DOWN);
}

/*
 * What is made twice as large takes twice as long to fill, if as much comes as
 * before: until then, that nothing happens says nothing.
 */
static bool may_be_filling(const struct lows *lows)
{
	double bytes = 0, before = 0, filled = 0;
	unsigned last = 0, gap = 0;

	for (unsigned i = 0; i < lows->count; i++) {
		if (lows->bytes[i] <= bytes)
			continue;
		filled = bytes - before;
		before = bytes;
		bytes = lows->bytes[i];
		gap = i - last;
		last = i;
	}
	/* When something happens is known to one interval. */
	return filled > 0 &&
	       lows->count - last <= (gap + 1) * (bytes - before) / filled;
}

/* One that wasn't there yet isn't made larger by being acquired. */
static double first_held(const struct lows *lows)
{
	unsigned first = 0;

	while (first + 1 < lows->count && !lows->bytes[first])
		first++;
	return lows->bytes[first];
}

/*
 * What is resized again and again may be one block that never ends; so may
 * one that is replaced by a larger one each time.
 */
static bool is_larger(const struct site *site, const struct lows *lows,
		      struct verdict *verdict)
{
	bool one = site->blocks < FEW_BLOCKS;
	double first = first_held(lows), last = lows->bytes[lows->count - 1];
	bool again = one ? site->alloc_blocks > site->blocks + 1 :
			   site->resized >= FEW_BLOCKS;

	if (!again || site->bytes < last || last <= first ||
	    !rises(lows->bytes, lows, verdict) ||
	    verdict->steadiness < VERY_STEADY)
		return false;
	if (!stopped_rising(lows->bytes, lows, verdict))
		return true;
	return one && last > first * LARGER_MUCH && may_be_filling(lows);
}

static void judge_number(const struct site *site,
			 const struct survey_site *ages,
			 const struct lows *lows, struct verdict *verdict)
{
	if (site->blocks < FEW_BLOCKS)
		verdict_say(verdict, VERDICT_NOT, VERDICT_FEW);
	else if (lows->count < LOWS_MIN)
		verdict_say(verdict, VERDICT_NOT, VERDICT_TOO_EARLY);
	else if (site->lifetimes.count)
		judge_freed(site, ages, lows, verdict);
	else
		judge_never_freed(site, lows, verdict);
}

/*
 * As if each piece that is added were a block of its own: so many were, none was
 * given back, and no fewer come by now (that is a matter of time: most calls may
 * be the resizes themselves). What doubles takes few steps.
 */
static bool grows_on(const struct site *site, const struct lows *lows,
		     struct verdict *verdict)
{
	const double *bytes = lows->bytes;
	unsigned last = lows->count - 1, third = lows->count / 3;

	return site->blocks < FEW_BLOCKS &&
	       site->alloc_blocks >= VERDICT_ENOUGH && !site->lifetimes.count &&
	       !stopped_rising(bytes, lows, verdict) &&
	       bytes[last] - bytes[last - third] >=
		       SLOWED * (bytes[third] - bytes[0]);
}

/* Blocks that get more are worse than blocks that get larger. */
static void judge_size(const struct site *site, const struct lows *lows,
		       struct verdict *verdict)
{
	struct verdict larger = *verdict;

	if (verdict->level == VERDICT_LIKELY || lows->count < LOWS_MIN ||
	    !is_larger(site, lows, &larger))
		return;
	*verdict = larger;
	verdict_say(verdict,
		    grows_on(site, lows, verdict) && !verdict->idle ?
			    VERDICT_LIKELY :
			    VERDICT_POSSIBLE,
		    VERDICT_LARGER);
}

/* How many blocks were seen that speak for a leak. */
static uint64_t witnesses(const struct site *site,
			  const struct survey_site *ages)
{
	return site->lifetimes.count ? ages->old : site->blocks;
}

/*
 * Each sample stands for very many: of a few, none was given back by chance, and
 * the longest lifetime is no longest one. How large a block is needs no samples.
 */
static void judge_samples(const struct site *site,
			  const struct survey_site *ages,
			  struct verdict *verdict)
{
	if (verdict->level == VERDICT_LIKELY && site->samples &&
	    verdict->reason != VERDICT_LARGER &&
	    witnesses(site, ages) < VERDICT_ENOUGH)
		verdict->level = VERDICT_POSSIBLE;
}

/* A store that was full before, and lives on: what is new in it makes up for
   what was old. Few may be as many by chance. */
static void judge_replaced(const struct site *site,
			   const struct survey_site *found,
			   struct verdict *verdict)
{
	if (verdict->level != VERDICT_NOT &&
	    verdict->reason != VERDICT_LARGER &&
	    survey_replaces(found, verdict->blocks))
		verdict_say(verdict,
			    site->blocks < VERDICT_ENOUGH ? VERDICT_POSSIBLE :
							    VERDICT_NOT,
			    VERDICT_REPLACED);
}

/*
 * Blocks that are too young to be old yet are leaked at the same rate as those
 * before.
 */
static void estimate_leaked(const struct site *site,
			    const struct survey_site *ages,
			    struct verdict *verdict)
{
	uint64_t limit = site_old_age(site);
	double part = 1;

	if (verdict->level == VERDICT_NOT)
		return;
	if (verdict->reason == VERDICT_OLD_ONES ||
	    verdict->reason == VERDICT_OLD_AND_MORE) {
		part = verdict->blocks ? (double)ages->old / verdict->blocks :
					 0;
		if (limit < verdict->watched)
			part *= (double)verdict->watched /
				(verdict->watched - limit);
	}
	if (part > 1)
		part = 1;
	verdict->leaked_blocks = verdict->blocks * part + 0.5;
	verdict->leaked_bytes = verdict->bytes * part + 0.5;
	if (part < 1 && ages->old)
		verdict->leaked_bytes = (double)ages->old_bytes / ages->old *
					verdict->leaked_blocks;
}

/* How long it takes until enough are there, if they go on coming like this. */
static void judge_patience(const struct site *site,
			   const struct survey_site *ages,
			   struct verdict *verdict)
{
	uint64_t seen = witnesses(site, ages);
	bool open = verdict->level == VERDICT_POSSIBLE ||
		    verdict->reason == VERDICT_FEW ||
		    verdict->reason == VERDICT_TOO_EARLY;

	if (verdict->level == VERDICT_LIKELY || !open || seen < 2 ||
	    seen >= VERDICT_ENOUGH || verdict->reason == VERDICT_LARGER)
		return;
	if (site->last_time - site->first_time < verdict->watched / 2)
		return; /* they don't */
	verdict->enough = verdict->watched / seen * VERDICT_ENOUGH;
}

/* What a program does in its first moments looks like a leak. */
static void judge_haste(struct verdict *verdict)
{
	if (verdict->level != VERDICT_LIKELY || verdict->watched >= HASTY)
		return;
	verdict->level = VERDICT_POSSIBLE;
	verdict->hasty = true;
}

static uint64_t age_before(uint64_t age, uint64_t idle)
{
	return age > idle ? age - idle : 0;
}

/* Rates are told for all of the time. */
static uint64_t interval_in_all(const struct lows *lows)
{
	return lows->interval +
	       (lows->count ? lows->left_out / lows->count : 0);
}

/* What decides: of a site of which not all is kept, what was. */
struct evidence {
	struct site site;
	struct survey_site ages;
	struct lows lows;
	double each; /* a block that is held stands for so many */
};

/* As so many are to so many: what is still held comes out whole. */
static void scale_lows(struct lows *lows, double seen, double blocks)
{
	for (unsigned i = 0; i < lows->count; i++) {
		lows->blocks[i] = lows->blocks[i] * seen / blocks;
		lows->calls[i] = lows->calls[i] * seen / blocks;
	}
	lows->last_calls = lows->last_calls * seen / blocks;
}

/*
 * How many blocks are enough to be sure counts those that were seen, not those
 * that they stand for. (Bytes are compared with bytes alone.) A block that is
 * held may stand for far more, or fewer, than those that have come and gone: the
 * rate was another one.
 */
static void scale_evidence(struct evidence *evidence)
{
	struct site *site = &evidence->site;
	struct survey_site *ages = &evidence->ages;
	double seen = ages->seen, blocks = site->blocks;

	if (!site->samples)
		return;
	if (!ages->seen) {
		seen = site->samples;
		blocks = site->alloc_blocks;
	}
	evidence->each = blocks / seen;
	site->blocks = site->blocks * seen / blocks + 0.5;
	site->alloc_blocks = site->samples;
	ages->old = ages->seen_old;
	scale_lows(&evidence->lows, seen, blocks);
}

/* Back to the number of blocks. */
static void scale_trend(struct verdict *verdict, double each)
{
	if (verdict->reason == VERDICT_LARGER)
		return;
	verdict->trend.slope *= each;
	verdict->trend.low *= each;
	verdict->trend.high *= each;
}

/* Of what is sampled, the first one that is seen needn't be the first. */
static uint64_t begin_of(const struct heap *heap, const struct site *site)
{
	return site->samples ? heap_start(heap) : site->first_time;
}

/* A mapping in whose midst a part was given back is two pieces, and one block. */
static uint64_t old_blocks(const struct site *site,
			   const struct survey_site *ages)
{
	return ages->old < site->blocks ? ages->old : site->blocks;
}

struct verdict verdict_by(const struct heap *heap, const struct site *site,
			  const struct survey_site *ages,
			  const struct survey *survey)
{
	uint64_t until = survey_busy_until(survey, site->function->family);
	uint64_t begin = begin_of(heap, site);
	struct evidence seen = {
		.site = *site,
		.ages = *ages,
		.each = 1,
	};
	struct verdict verdict = {
		.blocks = site->blocks,
		.bytes = site->bytes,
		.watched = until > begin ? until - begin : 0,
		.idle = survey_now(survey) - until,
		.usual_lifetime = site_usual_lifetime(site),
		.oldest = age_before(ages->oldest, survey_now(survey) - until),
		.old_blocks = old_blocks(site, ages),
		.replaced = ages->replaced,
	};

	if (!site->blocks) {
		verdict_say(&verdict, VERDICT_NOT, VERDICT_ALL_FREED);
		return verdict;
	}
	seen.site.first_time = begin;
	seen.lows = lows_of(heap, &seen.site, until);
	verdict.interval = interval_in_all(&seen.lows);
	scale_evidence(&seen);
	judge_number(&seen.site, &seen.ages, &seen.lows, &verdict);
	judge_size(&seen.site, &seen.lows, &verdict);
	judge_haste(&verdict);
	judge_samples(&seen.site, &seen.ages, &verdict);
	judge_replaced(&seen.site, ages, &verdict);
	estimate_leaked(site, ages, &verdict);
	judge_patience(&seen.site, &seen.ages, &verdict);
	scale_trend(&verdict, seen.each);
	return verdict;
}

struct verdict verdict_of(const struct heap *heap, const struct site *site,
			  const struct survey *survey)
{
	struct verdict verdict =
		verdict_by(heap, site, survey_site(survey, site), survey);

	verdict_heed_collector(heap, site, survey, &verdict);
	verdict_heed_reach(&verdict, heap_site_reach(heap, site));
	return verdict;
}
