/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/figures.h"

#include <stdlib.h>

#define MEMBER(name)                                                     \
	static double name##_of(const struct replay_result *result,      \
				const struct plan_counts *counts UNUSED) \
	{                                                                \
		return result->name;                                     \
	}

MEMBER(wall)
MEMBER(user)
MEMBER(system)
MEMBER(peak)
MEMBER(final)
MEMBER(minor_faults)
MEMBER(major_faults)
MEMBER(operations)
MEMBER(conflicts)
MEMBER(failed)

static double peak_ratio_of(const struct replay_result *result,
			    const struct plan_counts *counts)
{
	return counts->peak ? (double)result->peak / counts->peak : 0;
}

const struct figure figures[] = {
	{ "wall_ns", "wall", UNIT_TIME, wall_of },
	{ "user_ns", "user", UNIT_TIME, user_of },
	{ "system_ns", "system", UNIT_TIME, system_of },
	{ "peak_rss_bytes", "peak RSS", UNIT_BYTES, peak_of },
	{ "peak_rss_to_ideal", "peak RSS / ideal", UNIT_RATIO, peak_ratio_of },
	{ "final_rss_bytes", "final RSS", UNIT_BYTES, final_of },
	{ "minor_faults", "minor faults", UNIT_COUNT, minor_faults_of },
	{ "major_faults", "major faults", UNIT_COUNT, major_faults_of },
	{ "operations", "operations", UNIT_COUNT, operations_of },
	{ "conflicts", "conflicts", UNIT_COUNT, conflicts_of },
	{ "failed", "failed", UNIT_COUNT, failed_of },
};

const size_t figure_count = ARRAY_SIZE(figures);

static double mean_of(const struct replay_times *times)
{
	return times->count ? (double)times->total / times->count : 0;
}

static double half_of(const struct replay_times *times)
{
	return times->half;
}

static double most_of(const struct replay_times *times)
{
	return times->most;
}

static double max_of(const struct replay_times *times)
{
	return times->max;
}

const struct time_figure time_figures[] = {
	{ "mean_ns", "mean", mean_of },
	{ "p50_ns", "p50", half_of },
	{ "p99_ns", "p99", most_of },
	{ "max_ns", "max", max_of },
};

const size_t time_figure_count = ARRAY_SIZE(time_figures);

const char *const replay_function_names[REPLAY_KINDS] = {
	[REPLAY_MALLOC] = "malloc",
	[REPLAY_CALLOC] = "calloc",
	[REPLAY_ALIGNED] = "posix_memalign",
	[REPLAY_REALLOC] = "realloc",
	[REPLAY_FREE] = "free",
};

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct spread spread_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return (struct spread){
		.median = (values[(count - 1) / 2] + values[count / 2]) / 2,
		.least = values[0],
		.most = values[count - 1],
	};
}
