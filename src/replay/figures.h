/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FIGURES_H
#define CALLTRAP_FIGURES_H

#include "replay/comparison.h"

/* Each figure that a replay is judged by. */

enum figure_unit {
	UNIT_TIME, /* nanoseconds, shown in any unit */
	UNIT_NS,   /* … in nanoseconds */
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_RATIO,
};

struct figure {
	const char *key;  /* in JSON */
	const char *text; /* in the table */
	enum figure_unit unit;
	double (*of)(const struct replay_result *result,
		     const struct plan_counts *counts);
};

extern const struct figure figures[];
extern const size_t figure_count;

/* … of the calls of each function. */
struct time_figure {
	const char *key, *text;
	double (*of)(const struct replay_times *times);
};

extern const struct time_figure time_figures[];
extern const size_t time_figure_count;

/* What calls are replayed as. */
extern const char *const replay_function_names[REPLAY_KINDS];

/* Of all runs. */
struct spread {
	double median, least, most;
};

struct spread spread_of(double *values, size_t count);

#endif
