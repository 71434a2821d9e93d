/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TREND_H
#define CALLTRAP_TREND_H

#include "base/types.h"

/*
 * Whether numbers at equal distances rise, and how steeply, without assuming
 * anything about how they are spread: outliers don't matter. The slope is
 * Theil and Sen's median of the slopes of all pairs; the evidence is Mann and
 * Kendall's, in standard deviations from what chance would give.
 */
#define TREND_POINTS 32

struct trend {
	double slope;     /* a step */
	double low, high; /* it lies between these with 95 % */
	double evidence;  /* > 2.33: rises, with 99 % */
};

struct trend trend_of(const double *numbers, size_t count);

/*
 * What has been gained, as a part of all ups and downs: 1 for numbers that
 * only rise, about 0 for those that go up and down.
 */
double trend_steadiness(const double *numbers, size_t count);

#endif
