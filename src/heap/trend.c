/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/trend.h"

#include <math.h>
#include <stdbool.h>
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

/*
 * The number that is of that rank, from 0 on: it is moved there, and what is
 * smaller before it. Hoare's: to sort all takes ten times as long, and there
 * are thousands of sites.
 */
static double of_rank(double *numbers, size_t count, size_t rank)
{
	ptrdiff_t first = 0, last = count - 1;
	const ptrdiff_t wanted = rank;

	while (first < last) {
		const double pivot = numbers[wanted];
		ptrdiff_t i = first, j = last;
		double swapped;

		while (i <= j) {
			while (numbers[i] < pivot)
				i++;
			while (pivot < numbers[j])
				j--;
			if (i > j)
				break;
			swapped = numbers[i];
			numbers[i++] = numbers[j];
			numbers[j--] = swapped;
		}
		if (j < wanted)
			first = i;
		if (wanted < i)
			last = j;
	}
	return numbers[rank];
}

/* As are those of most sites, of which there are thousands: all is given back,
   or nothing is added. */
static bool are_equal(const double *numbers, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (numbers[i] != numbers[0])
			return false;
	return true;
}

struct trend trend_of(const double *numbers, size_t count)
{
	struct trend trend = { 0 };
	double slopes[PAIRS], deviation, half;
	size_t pairs = 0;
	int rises = 0;

	if (count > TREND_POINTS)
		count = TREND_POINTS;
	if (count < 3 || are_equal(numbers, count))
		return trend;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			double rise = numbers[j] - numbers[i];

			slopes[pairs++] = rise / (j - i);
			rises += (rise > 0) - (rise < 0);
		}
	}
	deviation = sqrt(variance(numbers, count));
	half = NORMAL_95 * deviation / 2;
	trend.slope = of_rank(slopes, pairs, pairs / 2);
	if (pairs % 2 == 0)
		trend.slope =
			(trend.slope + of_rank(slopes, pairs, pairs / 2 - 1)) /
			2;
	trend.low = of_rank(slopes, pairs, limited(pairs / 2.0 - half, pairs));
	trend.high = of_rank(slopes, pairs, limited(pairs / 2.0 + half, pairs));
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
