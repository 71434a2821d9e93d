/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict.h"

#include <math.h>

#include "base/clock.h"
#include "heap/slab.h"
#include "heap/verdict_reach.h"

/*
 * The limits below were tuned with tests/corpus, whose programs differ in
 * kind; tests/corpus/evaluate.py prints what they come to.
 */
#define FEW_BLOCKS    4 /* a leak leaves as many */
#define SURE_BLOCKS   8 /* what a program needs once rarely comes to as many */
#define POINTS_MIN    8 /* of a history that says something */
#define RISES         2.33 /* evidence: 99 % */
#define STEADY        0.5
#define VERY_STEADY   0.75
#define SILENT_PART   5   /* of the time, and … */
#define SILENT_GAPS   3   /* … of the mean time between increases */
#define SLOWED        0.4 /* against what was added at the beginning */
#define SLOWED_MUCH   0.12
#define BACKLOG_PART  8 /* of the time, the oldest has waited */
#define COARSE_POINTS 8
#define LARGER_MUCH   1.5
#define CALLS_MIN     20
#define IDLE          0.01 /* of what it does else */
#define CHANCE        0.05
#define CHANCE_MAX    200
#define EVENLY        0.75 /* of the time a process could run */
#define ENOUGH        25   /* leaked blocks that are always found */
#define HASTY         (NS_PER_SECOND / 2)

/*
 * The low water of a site since its first block; and how many blocks of the
 * process had come and gone by the beginning of each interval, which is how
 * much it does: time in which it does nothing says nothing.
 */
struct lows {
	double blocks[TREND_POINTS], bytes[TREND_POINTS];
	double calls[TREND_POINTS];
	double last_calls; /* at the end */
	unsigned count;
	uint64_t interval;
	uint64_t left_out; /* time in which the process could not run */
};

/* A history at one time. */
struct history_view {
	struct history_point points[HISTORY_POINTS];
	unsigned count;
	uint64_t interval;
};

static double blocks_at(const struct history_view *view, uint64_t since)
{
	uint64_t index = since / view->interval;

	return view->points[index < view->count ? index : view->count - 1]
		.low_blocks;
}

/* What only ever gets more is no measure of how much is done. */
static void add_calls(const struct heap *heap, const struct site *site,
		      uint64_t since, unsigned first, struct lows *lows)
{
	const struct family *family = site->function->family;
	struct history_view acquired, held;

	acquired.count = history_points(heap_activity(heap, family), since,
					acquired.points, &acquired.interval);
	held.count = history_points(heap_total_history(heap, family), since,
				    held.points, &held.interval);
	for (unsigned i = 0; i < lows->count; i++) {
		uint64_t time = (first + i) * lows->interval;

		lows->calls[i] =
			blocks_at(&acquired, time) - blocks_at(&held, time);
	}
	lows->last_calls =
		blocks_at(&acquired, since) - blocks_at(&held, since);
}

/* How much of its time the process could run, by the beginning of each interval
   and at the end. */
static void find_runs(const struct heap *heap, uint64_t since, unsigned first,
		      const struct lows *lows, double *runs)
{
	const struct history *history = heap_held_history(heap);
	uint64_t start = first * lows->interval;
	struct history_view held;
	double before;

	held.count =
		history_points(history, since, held.points, &held.interval);
	before = blocks_at(&held, start);
	for (unsigned i = 0; i <= lows->count; i++) {
		uint64_t time = i * lows->interval;

		runs[i] = time - (blocks_at(&held, start + time) - before);
	}
}

/* So many of as long intervals as there were, or more of shorter ones. */
static unsigned run_count(const double *runs, unsigned count)
{
	double longest = 0;

	for (unsigned i = 0; i < count; i++)
		if (runs[i + 1] - runs[i] > longest)
			longest = runs[i + 1] - runs[i];
	return longest > 0 ? fmax(ceil(runs[count] / longest), POINTS_MIN) :
			     count;
}

/*
 * Where a process could not run, nothing says anything: intervals are made anew,
 * of the time in which it could. If that went on all the time, or for little of
 * it, it makes no difference.
 */
static void leave_out_held(const struct heap *heap, uint64_t since,
			   unsigned first, struct lows *lows)
{
	double runs[TREND_POINTS + 1], step;
	const struct lows old = *lows;
	unsigned count, next = 0;

	if (old.count <= POINTS_MIN)
		return;
	find_runs(heap, since, first, lows, runs);
	count = run_count(runs, old.count);
	if (count > old.count * EVENLY)
		return;
	step = runs[old.count] / count;
	for (unsigned i = 0; i < count; i++) {
		while (next + 1 < old.count && runs[next + 1] <= i * step)
			next++;
		lows->blocks[i] = old.blocks[next];
		lows->bytes[i] = old.bytes[next];
		lows->calls[i] = old.calls[next];
		for (unsigned k = next + 1;
		     k < old.count && runs[k] < (i + 1) * step; k++) {
			lows->blocks[i] = fmin(lows->blocks[i], old.blocks[k]);
			lows->bytes[i] = fmin(lows->bytes[i], old.bytes[k]);
		}
	}
	lows->count = count;
	lows->interval = step;
	lows->left_out = old.count * old.interval - runs[old.count];
}

/* The last interval has not ended: its low water says less. */
static struct lows lows_of(const struct heap *heap, const struct site *site,
			   uint64_t now)
{
	struct history_point points[HISTORY_POINTS];
	uint64_t start = heap_start(heap);
	struct lows lows = { 0 };
	unsigned count, first;

	count = history_points(&site->history, now - start, points,
			       &lows.interval);
	if (count > (now - start) / lows.interval + 1)
		count = (now - start) / lows.interval + 1;
	first = (site->first_time - start) / lows.interval;
	for (unsigned i = first; i + 1 < count; i++) {
		lows.blocks[lows.count] = points[i].low_blocks;
		lows.bytes[lows.count++] = points[i].low_bytes;
	}
	add_calls(heap, site, now - start, first, &lows);
	leave_out_held(heap, now - start, first, &lows);
	return lows;
}

/* Noise is less when the low water of several intervals is taken. */
static double coarse_steadiness(const double *lows, unsigned count)
{
	double coarse[COARSE_POINTS];
	unsigned groups = count < COARSE_POINTS ? count : COARSE_POINTS;

	for (unsigned g = 0; g < groups; g++) {
		unsigned end = (g + 1) * count / groups;

		coarse[g] = lows[g * count / groups];
		for (unsigned i = g * count / groups; i < end; i++)
			if (lows[i] < coarse[g])
				coarse[g] = lows[i];
	}
	return trend_steadiness(coarse, groups);
}

/* When the low water was last higher than ever before, and how often that
   was. */
static unsigned records(const double *lows, unsigned count, unsigned *last_ret)
{
	double highest = 0;
	unsigned found = 0;

	*last_ret = 0;
	for (unsigned i = 0; i < count; i++) {
		if (lows[i] <= highest)
			continue;
		highest = lows[i];
		*last_ret = i;
		found++;
	}
	return found;
}

static bool is_silent(double silence, double watched, double gap)
{
	return silence > watched / SILENT_PART && silence > SILENT_GAPS * gap;
}

/* Whether enough else is going on to count in. */
static bool has_calls(const struct lows *lows)
{
	double calls = lows->last_calls - lows->calls[0];
	double blocks = lows->blocks[lows->count - 1] - lows->blocks[0];

	return calls >= CALLS_MIN && calls >= blocks;
}

/*
 * The same, counted in what the process does: when it does less, there will be
 * less of everything. One that does nothing any more is silent, though.
 */
static bool is_silent_by_calls(const struct lows *lows, unsigned last,
			       unsigned found)
{
	double watched = lows->last_calls - lows->calls[0];
	double silence = lows->last_calls - lows->calls[last];
	double gap = found ? (lows->calls[last] - lows->calls[0]) / found : 0;

	return !has_calls(lows) || silence < watched * IDLE ||
	       is_silent(silence, watched, gap);
}

/* Increases that come in bursts have the bursts' distance. */
static bool stopped_rising(const double *numbers, const struct lows *lows,
			   struct verdict *verdict)
{
	unsigned last, found = records(numbers, lows->count, &last);
	double gap = found ? (double)last * lows->interval / found : 0;
	double watched = verdict->watched > lows->left_out ?
				 verdict->watched - lows->left_out :
				 0;

	verdict->silence = (uint64_t)(lows->count - last) * lows->interval;
	return is_silent(verdict->silence, watched, gap) &&
	       is_silent_by_calls(lows, last, found);
}

static bool rises(const double *numbers, const struct lows *lows,
		  struct verdict *verdict)
{
	verdict->trend = trend_of(numbers, lows->count);
	verdict->steadiness = coarse_steadiness(numbers, lows->count);
	return verdict->trend.evidence >= RISES &&
	       verdict->steadiness >= STEADY;
}

/* How much was added, and how much was acquired by the process meanwhile. */
struct part {
	double added, calls;
};

static struct part part_of(const struct lows *lows, unsigned from,
			   unsigned length)
{
	unsigned to = from + length;

	return (struct part){
		.added = lows->blocks[to] - lows->blocks[from],
		.calls = lows->calls[to] - lows->calls[from],
	};
}

/*
 * What a part of the time at its end added, of that what the same part at the
 * beginning did; a call of the process, if it makes fewer by now.
 */
static double late_share(const struct lows *lows, double part)
{
	unsigned length = lows->count * part;
	struct part first = part_of(lows, 0, length);
	struct part last = part_of(lows, lows->count - 1 - length, length);
	double by_calls;

	if (first.added <= 0)
		return 1;
	if (!has_calls(lows) || last.calls >= first.calls)
		return last.added / first.added;
	by_calls = first.added * last.calls / first.calls;
	return (last.added + 1) / (by_calls + 1);
}

/*
 * Whether so few more may have come by chance: of as many in all, each belongs
 * to the one or the other part with the same chance.
 */
static bool may_be_chance(const struct lows *lows, double part)
{
	unsigned length = lows->count * part;
	double first = part_of(lows, 0, length).added;
	double last = part_of(lows, lows->count - 1 - length, length).added;
	double all = first + last, term = 1, sum = 0;

	if (all > CHANCE_MAX || last < 0)
		return false;
	for (double k = 0; k <= last; k++) {
		sum += term;
		term *= (all - k) / (k + 1);
	}
	return sum * pow(0.5, all) > CHANCE;
}

static void say(struct verdict *verdict, enum verdict_level level,
		enum verdict_reason reason)
{
	verdict->level = level;
	verdict->reason = reason;
}

/* Whether there were more of what is never given back in the last part of the
   time. */
static bool came_late(const struct site *site, const struct lows *lows)
{
	unsigned then = lows->count - 1 - lows->count / SILENT_PART;

	return site->blocks > lows->blocks[then];
}

static bool has_slowed(const struct lows *lows, double limit)
{
	return late_share(lows, 1.0 / 3) < limit &&
	       !may_be_chance(lows, 1.0 / 3);
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
		say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (!late && has_slowed(lows, SLOWED_MUCH))
		say(verdict, VERDICT_NOT, VERDICT_SLOWED);
	else if (stopped || has_slowed(lows, SLOWED))
		say(verdict, VERDICT_POSSIBLE, VERDICT_SLOWED);
	else
		say(verdict,
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
	       !is_silent(could - born, could, born / ages->old);
}

static void judge_freed(const struct site *site, const struct survey_site *ages,
			const struct lows *lows, struct verdict *verdict)
{
	bool goes_on = old_go_on(site, ages, verdict);
	bool stopped = stopped_rising(lows->blocks, lows, verdict);
	bool rising = rises(lows->blocks, lows, verdict);

	if (rising && !stopped && ages->old >= FEW_BLOCKS - 1 &&
	    ages->seen_old_in_last_half)
		say(verdict, VERDICT_LIKELY, VERDICT_OLD_AND_MORE);
	else if (rising && !stopped && verdict->steadiness >= VERY_STEADY &&
		 verdict->oldest > verdict->watched / BACKLOG_PART &&
		 late_share(lows, 0.4) >= SLOWED)
		say(verdict, VERDICT_POSSIBLE, VERDICT_BACKLOG);
	else if (goes_on || (ages->seen_very_old >= FEW_BLOCKS - 1 &&
			     ages->seen_old_in_last_half && !stopped))
		say(verdict, VERDICT_POSSIBLE, VERDICT_OLD_ONES);
	else if (stopped && ages->old)
		say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (!ages->old)
		say(verdict, VERDICT_NOT, VERDICT_TURNOVER);
	else
		say(verdict, VERDICT_NOT, VERDICT_UP_AND_DOWN);
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
		say(verdict, VERDICT_NOT, VERDICT_FEW);
	else if (lows->count < POINTS_MIN)
		say(verdict, VERDICT_NOT, VERDICT_TOO_EARLY);
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

	return site->blocks < FEW_BLOCKS && site->alloc_blocks >= ENOUGH &&
	       !site->lifetimes.count &&
	       !stopped_rising(bytes, lows, verdict) &&
	       bytes[last] - bytes[last - third] >=
		       SLOWED * (bytes[third] - bytes[0]);
}

/* Blocks that get more are worse than blocks that get larger. */
static void judge_size(const struct site *site, const struct lows *lows,
		       struct verdict *verdict)
{
	struct verdict larger = *verdict;

	if (verdict->level == VERDICT_LIKELY || lows->count < POINTS_MIN ||
	    !is_larger(site, lows, &larger))
		return;
	*verdict = larger;
	say(verdict,
	    grows_on(site, lows, verdict) && !verdict->idle ? VERDICT_LIKELY :
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
	    verdict->reason != VERDICT_LARGER && witnesses(site, ages) < ENOUGH)
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
		say(verdict,
		    site->blocks < ENOUGH ? VERDICT_POSSIBLE : VERDICT_NOT,
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
	    seen >= ENOUGH || verdict->reason == VERDICT_LARGER)
		return;
	if (site->last_time - site->first_time < verdict->watched / 2)
		return; /* they don't */
	verdict->enough = verdict->watched / seen * ENOUGH;
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

static struct verdict verdict_by(const struct heap *heap,
				 const struct site *site,
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
		.old_blocks = ages->old,
		.replaced = ages->replaced,
	};

	if (!site->blocks) {
		say(&verdict, VERDICT_NOT, VERDICT_ALL_FREED);
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
		say(verdict, VERDICT_POSSIBLE, VERDICT_OWNED);
	} else if (verdict->reason == VERDICT_NEVER_FREED && seen &&
		   seen < ENOUGH) {
		verdict->level = VERDICT_POSSIBLE;
		verdict->enough = verdict->watched / seen * ENOUGH;
	}
}

/* However few they are, and for how long ever they are watched. */
static void heed_own_collector(struct verdict *verdict)
{
	if (verdict->level == VERDICT_NOT)
		return;
	say(verdict, VERDICT_POSSIBLE, VERDICT_COLLECTED);
	verdict->enough = 0;
	verdict->hasty = false;
}

static void heed_collector(const struct heap *heap, const struct site *site,
			   const struct survey *survey, struct verdict *verdict)
{
	const struct stacks *stacks = heap_stacks(heap);
	struct namer *namer = heap_namer(heap);

	if (site->function->family->collected)
		heed_own_collector(verdict);
	if (verdict->level != VERDICT_LIKELY)
		return;
	if (slab_of_collector(stacks, namer, site))
		say(verdict, VERDICT_POSSIBLE, VERDICT_COLLECTED);
	else if (slab_owner_is_collected(stacks, namer, site))
		heed_owner(site, survey, verdict);
}

struct verdict verdict_of(const struct heap *heap, const struct site *site,
			  const struct survey *survey)
{
	struct verdict verdict =
		verdict_by(heap, site, survey_site(survey, site), survey);

	heed_collector(heap, site, survey, &verdict);
	verdict_heed_reach(&verdict, heap_site_reach(heap, site));
	return verdict;
}

static void add_history(struct history *sum, const struct history *history,
			uint64_t since)
{
	struct history_point points[HISTORY_POINTS];
	uint64_t interval;
	unsigned count = history_points(history, since, points, &interval);

	if (!sum->count) {
		sum->interval = interval;
		sum->count = count;
	}
	/* One that is coarser was changed later than that. */
	if (interval != sum->interval)
		return;
	for (unsigned i = 0; i < count && i < sum->count; i++) {
		sum->points[i].low_blocks += points[i].low_blocks;
		sum->points[i].low_bytes += points[i].low_bytes;
	}
	sum->last.blocks += history->last.blocks;
	sum->last.bytes += history->last.bytes;
}

/* Of what was never given back. */
static void add_site(struct site *sum, const struct site *site, uint64_t since)
{
	if (!sum->blocks || site->first_time < sum->first_time)
		sum->first_time = site->first_time;
	if (site->last_time > sum->last_time)
		sum->last_time = site->last_time;
	sum->blocks += site->blocks;
	sum->bytes += site->bytes;
	sum->alloc_blocks += site->alloc_blocks;
	sum->samples += site->samples;
	/* One block has no history. */
	if (site->history.points)
		add_history(&sum->history, &site->history, since);
}

struct verdict verdict_together(const struct heap *heap,
				const struct site *const *sites, size_t count,
				const struct survey *survey)
{
	uint64_t since = survey_now(survey) - heap_start(heap);
	struct history_point points[HISTORY_POINTS] = { 0 };
	struct site sum = { .function = sites[0]->function };
	struct survey_site ages = { 0 };

	sum.history.points = points;
	sum.history.room = HISTORY_POINTS;
	for (size_t i = 0; i < count; i++) {
		add_site(&sum, sites[i], since);
		ages.replaced += survey_site(survey, sites[i])->replaced;
		ages.seen += survey_site(survey, sites[i])->seen;
	}
	if (!sum.history.count)
		return (struct verdict){ .blocks = sum.blocks };
	return verdict_by(heap, &sum, &ages, survey);
}
