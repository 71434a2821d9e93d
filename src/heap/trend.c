/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/trend.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS     (TREND_POINTS * (TREND_POINTS - 1) / 2)
#define NORMAL_95 1.96 /* two-sided */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* n (n - 1) (2 n + 5), which equal numbers take away from the variance */
static double spread(size_t n)
{
	return (double)n * (n - 1) * (2 * n + 5);
}

static double variance(const double *numbers, size_t count)
{
	double sorted[TREND_POINTS], sum = spread(count);
	size_t run = 1;

	for (size_t i = 0; i < count; i++)
		sorted[i] = numbers[i];
	qsort(sorted, count, sizeof(*sorted), by_number);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && sorted[i] == sorted[i - 1]) {
			run++;
			continue;
		}
		sum -= spread(run);
		run = 1;
	}
	return sum / 18;
}

static double limited(double rank, size_t pairs)
{
	return rank < 0 ? 0 : rank > pairs - 1 ? pairs - 1 : rank;
}

struct trend trend_of(const double *numbers, size_t count)
{
	struct trend trend = { 0 };
	double slopes[PAIRS], deviation, half;
	size_t pairs = 0;
	int rises = 0;

	if (count > TREND_POINTS)
		count = TREND_POINTS;
	if (count < 3)
		return trend;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			double rise = numbers[j] - numbers[i];

			slopes[pairs++] = rise / (j - i);
			rises += (rise > 0) - (rise < 0);
		}
	}
	qsort(slopes, pairs, sizeof(*slopes), by_number);
	deviation = sqrt(variance(numbers, count));
	half = NORMAL_95 * deviation / 2;
	trend.slope = pairs % 2 ?
			      slopes[pairs / 2] :
			      (slopes[pairs / 2 - 1] + slopes[pairs / 2]) / 2;
	trend.low = slopes[(size_t)limited(pairs / 2.0 - half, pairs)];
	trend.high = slopes[(size_t)limited(pairs / 2.0 + half, pairs)];
	if (deviation > 0 && rises)
		trend.evidence =
			(rises > 0 ? rises - 1 : rises + 1) / deviation;
	return trend;
}

double trend_steadiness(const double *numbers, size_t count)
{
	double moved = 0;

	for (size_t i = 1; i < count; i++)
		moved += fabs(numbers[i] - numbers[i - 1]);
	return moved > 0 ? (numbers[count - 1] - numbers[0]) / moved : 0;
}
