/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict.h"

#include "base/clock.h"

/*
 * The limits below were tuned with tests/corpus, whose programs differ in
 * kind; tests/corpus/evaluate.py prints what they come to.
 */
#define FEW_BLOCKS    4    /* a leak leaves as many */
#define POINTS_MIN    8    /* of a history that says something */
#define RISES         2.33 /* evidence: 99 % */
#define STEADY        0.5
#define VERY_STEADY   0.75
#define SILENT_PART   5   /* of the time, and … */
#define SILENT_GAPS   3   /* … of the mean time between increases */
#define SLOWED        0.4 /* against what was added at the beginning */
#define SLOWED_MUCH   0.12
#define BACKLOG_PART  8 /* of the time, the oldest has waited */
#define COARSE_POINTS 8
#define HASTY         (NS_PER_SECOND / 2)

/* The low water of a site since its first block. */
struct lows {
	double blocks[TREND_POINTS], bytes[TREND_POINTS];
	unsigned count;
	uint64_t interval;
};

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

static bool is_silent(uint64_t silence, uint64_t watched, double gap)
{
	return silence > watched / SILENT_PART && silence > SILENT_GAPS * gap;
}

/* Increases that come in bursts have the bursts' distance. */
static bool stopped_rising(const double *numbers, const struct lows *lows,
			   struct verdict *verdict)
{
	unsigned last, found = records(numbers, lows->count, &last);
	double gap = found ? (double)last * lows->interval / found : 0;

	verdict->silence = (uint64_t)(lows->count - last) * lows->interval;
	return is_silent(verdict->silence, verdict->watched, gap);
}

static bool rises(const double *numbers, const struct lows *lows,
		  struct verdict *verdict)
{
	verdict->trend = trend_of(numbers, lows->count);
	verdict->steadiness = coarse_steadiness(numbers, lows->count);
	return verdict->trend.evidence >= RISES &&
	       verdict->steadiness >= STEADY;
}

/* What a part of the time at its end added, of that what the same part at the
   beginning did. */
static double late_share(const struct lows *lows, double part)
{
	unsigned length = lows->count * part;
	double first = lows->blocks[length] - lows->blocks[0];
	double last = lows->blocks[lows->count - 1] -
		      lows->blocks[lows->count - 1 - length];

	return first > 0 ? last / first : 1;
}

static void say(struct verdict *verdict, enum verdict_level level,
		enum verdict_reason reason)
{
	verdict->level = level;
	verdict->reason = reason;
}

/* In an idle process, it may have been the end of a growth or of all work. */
static void judge_never_freed(const struct lows *lows, struct verdict *verdict)
{
	bool stopped = stopped_rising(lows->blocks, lows, verdict);
	bool rising = rises(lows->blocks, lows, verdict);
	double late = late_share(lows, 1.0 / 3);

	if (stopped)
		say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (late < SLOWED_MUCH)
		say(verdict, VERDICT_NOT, VERDICT_SLOWED);
	else if (late < SLOWED)
		say(verdict, VERDICT_POSSIBLE, VERDICT_SLOWED);
	else
		say(verdict,
		    rising && !verdict->idle ? VERDICT_LIKELY :
					       VERDICT_POSSIBLE,
		    VERDICT_NEVER_FREED);
}

static void judge_freed(const struct survey_site *ages, const struct lows *lows,
			struct verdict *verdict)
{
	bool stopped = stopped_rising(lows->blocks, lows, verdict);
	bool rising = rises(lows->blocks, lows, verdict);

	if (rising && !stopped && ages->old >= FEW_BLOCKS - 1 &&
	    ages->old_in_last_half)
		say(verdict, VERDICT_LIKELY, VERDICT_OLD_AND_MORE);
	else if (rising && !stopped && verdict->steadiness >= VERY_STEADY &&
		 verdict->oldest > verdict->watched / BACKLOG_PART &&
		 late_share(lows, 0.4) >= SLOWED)
		say(verdict, VERDICT_POSSIBLE, VERDICT_BACKLOG);
	else if (ages->very_old >= FEW_BLOCKS - 1 && ages->old_in_last_half &&
		 !stopped)
		say(verdict, VERDICT_POSSIBLE, VERDICT_OLD_ONES);
	else if (stopped && ages->old)
		say(verdict, VERDICT_NOT, VERDICT_KEPT);
	else if (!ages->old)
		say(verdict, VERDICT_NOT, VERDICT_TURNOVER);
	else
		say(verdict, VERDICT_NOT, VERDICT_UP_AND_DOWN);
}

/* What is resized again and again may be one block that never ends. */
static bool is_larger(const struct site *site, const struct lows *lows,
		      struct verdict *verdict)
{
	return site->resized >= FEW_BLOCKS &&
	       rises(lows->bytes, lows, verdict) &&
	       !stopped_rising(lows->bytes, lows, verdict) &&
	       verdict->steadiness >= VERY_STEADY;
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
		judge_freed(ages, lows, verdict);
	else
		judge_never_freed(lows, verdict);
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
	say(verdict, VERDICT_POSSIBLE, VERDICT_LARGER);
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

struct verdict verdict_of(const struct heap *heap, const struct site *site,
			  const struct survey *survey)
{
	const struct survey_site *ages = survey_site(survey, site);
	uint64_t until = survey_busy_until(survey, site->function->family);
	struct lows lows = lows_of(heap, site, until);
	struct verdict verdict = {
		.blocks = site->blocks,
		.bytes = site->bytes,
		.watched =
			until > site->first_time ? until - site->first_time : 0,
		.idle = survey_now(survey) - until,
		.usual_lifetime = site_usual_lifetime(site),
		.oldest = age_before(ages->oldest, survey_now(survey) - until),
		.old_blocks = ages->old,
		.interval = lows.interval,
	};

	if (!site->blocks) {
		say(&verdict, VERDICT_NOT, VERDICT_ALL_FREED);
		return verdict;
	}
	judge_number(site, ages, &lows, &verdict);
	judge_size(site, &lows, &verdict);
	judge_haste(&verdict);
	return verdict;
}
