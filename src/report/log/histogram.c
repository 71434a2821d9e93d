/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/histogram.h"

#include <stdlib.h>

#include "base/xalloc.h"

void histogram_fini(struct histogram *histogram)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(histogram->octaves); i++)
		free(histogram->octaves[i]);
	*histogram = (struct histogram){ 0 };
}

/* Octave 0 holds the numbers below HISTOGRAM_PARTS, each by itself. */
static unsigned octave_of(uint64_t number)
{
	if (number < HISTOGRAM_PARTS)
		return 0;
	return 63 - __builtin_clzll(number) - 4;
}

static unsigned part_of(uint64_t number, unsigned octave)
{
	if (octave == 0)
		return number;
	return (number >> (octave - 1)) % HISTOGRAM_PARTS;
}

static uint64_t top_of(unsigned octave, unsigned part)
{
	if (octave == 0)
		return part;
	return ((uint64_t)(HISTOGRAM_PARTS + part + 1) << (octave - 1)) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t number)
{
	histogram_add_many(histogram, number, 1);
}

void histogram_add_many(struct histogram *histogram, uint64_t number,
			uint64_t times)
{
	unsigned octave = octave_of(number);
	uint64_t **counts = &histogram->octaves[octave];

	if (!*counts)
		*counts = xcalloc(HISTOGRAM_PARTS, sizeof(**counts));
	(*counts)[part_of(number, octave)] += times;
	histogram->count += times;
	if (number > histogram->max)
		histogram->max = number;
}

static uint64_t at_most(uint64_t number, uint64_t max)
{
	return number < max ? number : max;
}

uint64_t histogram_quantile(const struct histogram *histogram,
			    unsigned per_mille)
{
	uint64_t wanted, seen = 0;
	unsigned octave, part;

	wanted = ((__uint128_t)histogram->count * per_mille + 999) / 1000;
	if (!wanted)
		wanted = 1;
	for (octave = 0; octave < ARRAY_SIZE(histogram->octaves); octave++) {
		if (!histogram->octaves[octave])
			continue;
		for (part = 0; part < HISTOGRAM_PARTS; part++) {
			seen += histogram->octaves[octave][part];
			if (seen >= wanted)
				return at_most(top_of(octave, part),
					       histogram->max);
		}
	}
	return histogram->max;
}
