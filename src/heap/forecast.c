/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/forecast.h"

#include "heap/verdict.h"

#define POINTS_MIN 8
#define CERTAIN    2.58 /* 99.5 % */
#define STEADY     0.5
#define REST_MIN   0.2 /* less is noise */
#define ENOUGH     0.9 /* of the growth, for the sources */

/* A forecast reaches no farther than so many times what was watched. */
#define REACH 2000

static struct trend a_second(struct trend trend, uint64_t interval)
{
	double seconds = interval / 1e9;

	trend.slope /= seconds;
	trend.low /= seconds;
	trend.high /= seconds;
	return trend;
}

/* Sums are no independent numbers: their slope is known no better than by what
   it was in each half of the time. */
static struct trend by_halves(const double *numbers, unsigned count)
{
	struct trend trend = trend_of(numbers, count);
	double slopes[] = {
		trend_of(numbers, count / 2).slope,
		trend_of(numbers + count / 2, count - count / 2).slope
	};

	for (size_t i = 0; i < ARRAY_SIZE(slopes); i++) {
		if (slopes[i] < trend.low)
			trend.low = slopes[i];
		if (slopes[i] > trend.high)
			trend.high = slopes[i];
	}
	return trend;
}

/* The first interval is that of starting, the last one hasn't ended. */
struct rise rise_of(const struct history *history, uint64_t since)
{
	struct rise rise = { .watched = since };
	struct history_point points[HISTORY_POINTS];
	double lows[TREND_POINTS];
	uint64_t interval;
	unsigned count = history_points(history, since, points, &interval);
	unsigned used = 0;

	for (unsigned i = 1; i + 1 < count; i++)
		lows[used++] = points[i].low_bytes;
	if (used < POINTS_MIN)
		return rise;
	rise.trend = a_second(by_halves(lows, used), interval);
	rise.steadiness = trend_steadiness(lows, used);
	rise.certain = rise.trend.evidence >= CERTAIN &&
		       rise.steadiness >= STEADY && rise.trend.low > 0 &&
		       rise.trend.high < 2 * rise.trend.low;
	return rise;
}

struct forecast forecast_of(const struct rise *rise, uint64_t room)
{
	struct forecast forecast = { 0 };
	double left;

	if (!rise->certain)
		return forecast;
	left = room / rise->trend.slope * 1e9;
	if (left > (double)rise->watched * REACH)
		return forecast;
	forecast.certain = true;
	forecast.left = left;
	forecast.earliest = room / rise->trend.high * 1e9;
	forecast.latest = room / rise->trend.low * 1e9;
	return forecast;
}

/* To what precision a time is worth printing. */
static uint64_t rounded(uint64_t nanoseconds)
{
	static const uint64_t second = 1000000000;
	uint64_t unit = nanoseconds >= 100 * 3600 * second ? 3600 * second :
			nanoseconds >= 3600 * second       ? 600 * second :
			nanoseconds >= 600 * second        ? 60 * second :
			nanoseconds >= 60 * second         ? 10 * second :
							     second;

	return (nanoseconds + unit / 2) / unit * unit;
}

void forecast_print(const struct forecast *forecast, struct strbuf *out)
{
	uint64_t before = forecast->left - forecast->earliest;
	uint64_t behind = forecast->latest - forecast->left;
	uint64_t error = before > behind ? before : behind;

	if (!forecast->certain)
		return;
	strbuf_puts(out, "in ");
	strbuf_add_duration(out, rounded(forecast->left));
	strbuf_puts(out, " ± ");
	if (rounded(error))
		strbuf_add_duration(out, rounded(error));
	else
		strbuf_puts(out, "1 s");
}

/* Keeps the largest shares, sorted. */
static void keep(struct rise_source *ret, size_t *count, size_t room,
		 struct rise_source source)
{
	size_t i = *count;

	if (!room || (i == room && ret[room - 1].share >= source.share))
		return;
	if (i == room)
		i--;
	else
		++*count;
	for (; i && ret[i - 1].share < source.share; i--)
		ret[i] = ret[i - 1];
	ret[i] = source;
}

static uint64_t watched_by(const struct heap *heap, const struct survey *survey)
{
	uint64_t start = heap_start(heap), now = survey_now(survey);

	return now > start ? now - start : 0;
}

static bool is_source(const struct site *site, const struct family *family)
{
	return site->function->family == family && site->history.points;
}

void rise_without_replaced(struct rise *rise, const struct heap *heap,
			   const struct family *family,
			   const struct survey *survey)
{
	uint64_t since = watched_by(heap, survey);
	double part = 0;

	for (size_t n = 1; n <= heap_site_count(heap); n++) {
		const struct site *site = heap_site(heap, n);

		if (is_source(site, family) && survey_is_replaced(survey, site))
			part += rise_of(&site->history, since).trend.slope;
	}
	if (part <= 0)
		return;
	if (rise->trend.slope - part < REST_MIN * rise->trend.slope)
		rise->certain = false;
	rise->trend.slope -= part;
	rise->trend.low -= part;
	rise->trend.high -= part;
}

size_t rise_sources(const struct heap *heap, const struct family *family,
		    const struct survey *survey, struct rise_source *ret,
		    size_t room)
{
	uint64_t since = watched_by(heap, survey);
	double all = 0, sum = 0;
	size_t count = 0, used = 0;

	for (size_t n = 1; n <= heap_site_count(heap); n++) {
		const struct site *site = heap_site(heap, n);
		double slope;

		if (!is_source(site, family) ||
		    survey_is_replaced(survey, site))
			continue;
		slope = rise_of(&site->history, since).trend.slope;
		if (slope <= 0)
			continue;
		all += slope;
		keep(ret, &count, room,
		     (struct rise_source){ .site = site, .share = slope });
	}
	while (used < count && sum < ENOUGH * all)
		sum += ret[used++].share;
	for (size_t i = 0; i < used; i++)
		ret[i].share /= all;
	return used;
}
