/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/lows.h"

#include <math.h>

/* Tuned as those of verdict.c. */
#define SILENT_PART   5 /* of the time, and … */
#define SILENT_GAPS   3 /* … of the mean time between increases */
#define COARSE_POINTS 8
#define CALLS_MIN     20
#define IDLE          0.01 /* of what it does else */
#define CHANCE        0.05
#define CHANCE_MAX    200
#define EVENLY        0.75 /* of the time a process could run */

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
	return longest > 0 ? fmax(ceil(runs[count] / longest), LOWS_MIN) :
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

	if (old.count <= LOWS_MIN)
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
struct lows lows_of(const struct heap *heap, const struct site *site,
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
double lows_steadiness(const double *numbers, unsigned count)
{
	double coarse[COARSE_POINTS];
	unsigned groups = count < COARSE_POINTS ? count : COARSE_POINTS;

	for (unsigned g = 0; g < groups; g++) {
		unsigned end = (g + 1) * count / groups;

		coarse[g] = numbers[g * count / groups];
		for (unsigned i = g * count / groups; i < end; i++)
			if (numbers[i] < coarse[g])
				coarse[g] = numbers[i];
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

bool lows_are_silent(double silence, double watched, double gap)
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
	       lows_are_silent(silence, watched, gap);
}

/* Increases that come in bursts have the bursts' distance. */
bool lows_stopped(const struct lows *lows, const double *numbers,
		  uint64_t watched, uint64_t *silence_ret)
{
	unsigned last, found = records(numbers, lows->count, &last);
	double gap = found ? (double)last * lows->interval / found : 0;
	double could = watched > lows->left_out ? watched - lows->left_out : 0;

	*silence_ret = (uint64_t)(lows->count - last) * lows->interval;
	return lows_are_silent(*silence_ret, could, gap) &&
	       is_silent_by_calls(lows, last, found);
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
double lows_late_share(const struct lows *lows, double part)
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
bool lows_may_be_chance(const struct lows *lows, double part)
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
