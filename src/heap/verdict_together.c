/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/verdict.h"

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
