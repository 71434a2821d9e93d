/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/log_histogram.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define PARTS LOG_HISTOGRAM_PARTS

void log_histogram_fini(struct log_histogram *histogram)
{
	free(histogram->buckets);
	*histogram = (struct log_histogram){ 0 };
}

/* The largest number of a bucket. */
static uint64_t top_of(unsigned bucket)
{
	unsigned shift;

	if (bucket < PARTS)
		return bucket;
	shift = (bucket >> LOG_HISTOGRAM_BITS) - 1;
	return (((uint64_t)(bucket % PARTS + PARTS) + 1) << shift) - 1;
}

/* ---- buckets ---- */

static uint64_t get(const struct log_histogram *histogram, unsigned i)
{
	switch (histogram->width) {
	case 1:
		return ((const uint8_t *)histogram->buckets)[i];
	case 2:
		return ((const uint16_t *)histogram->buckets)[i];
	case 4:
		return ((const uint32_t *)histogram->buckets)[i];
	default:
		return ((const uint64_t *)histogram->buckets)[i];
	}
}

static void set(const struct log_histogram *histogram, unsigned i,
		uint64_t count)
{
	switch (histogram->width) {
	case 1:
		((uint8_t *)histogram->buckets)[i] = count;
		break;
	case 2:
		((uint16_t *)histogram->buckets)[i] = count;
		break;
	case 4:
		((uint32_t *)histogram->buckets)[i] = count;
		break;
	default:
		((uint64_t *)histogram->buckets)[i] = count;
		break;
	}
}

/* The same counts, in buckets of that width from first to last. */
static void remake(struct log_histogram *histogram, unsigned first,
		   unsigned last, unsigned width)
{
	struct log_histogram old = *histogram;

	histogram->first = first;
	histogram->room = last - first;
	histogram->width = width;
	histogram->buckets = xcalloc(last - first, width);
	for (unsigned i = 0; i < old.room; i++)
		set(histogram, old.first + i - first, get(&old, i));
	free(old.buckets);
}

/* Makes room for a bucket, and a little more on its side. */
static void widen(struct log_histogram *histogram, unsigned bucket)
{
	unsigned last = histogram->first + histogram->room;
	unsigned first = histogram->first;

	if (!histogram->room)
		first = last = bucket;
	if (bucket < first)
		first = bucket > 2 ? bucket - 2 : 0;
	if (bucket >= last)
		last = bucket < 252 ? bucket + 3 : 255;
	remake(histogram, first, last, histogram->width ? histogram->width : 1);
}

void log_histogram_add_elsewhere(struct log_histogram *histogram,
				 unsigned bucket, uint64_t more)
{
	uint64_t count;

	if (bucket < histogram->first ||
	    bucket >= (unsigned)histogram->first + histogram->room)
		widen(histogram, bucket);
	count = get(histogram, bucket - histogram->first) + more;
	while (histogram->width < sizeof(count) &&
	       count >> 8 * histogram->width)
		remake(histogram, histogram->first,
		       histogram->first + histogram->room,
		       2 * histogram->width);
	set(histogram, bucket - histogram->first, count);
}

/* ---- numbers ---- */

void log_histogram_merge(struct log_histogram *histogram,
			 const struct log_histogram *other)
{
	for (unsigned i = 0; i < other->room; i++)
		if (get(other, i))
			log_histogram_add_elsewhere(histogram, other->first + i,
						    get(other, i));
	histogram->count += other->count;
	if (other->max > histogram->max)
		histogram->max = other->max;
}

static uint64_t at_most(uint64_t number, uint64_t max)
{
	return number < max ? number : max;
}

uint64_t log_histogram_quantile(const struct log_histogram *histogram,
				unsigned per_mille)
{
	uint64_t wanted, seen = 0;

	wanted = ((__uint128_t)histogram->count * per_mille + 999) / 1000;
	if (!wanted)
		wanted = 1;
	for (unsigned i = 0; i < histogram->room; i++) {
		seen += get(histogram, i);
		if (seen >= wanted)
			return at_most(top_of(histogram->first + i),
				       histogram->max);
	}
	return histogram->max;
}

size_t log_histogram_bytes(const struct log_histogram *histogram)
{
	return histogram->room * histogram->width;
}

void log_histogram_classes(const struct log_histogram *histogram,
			   uint64_t ret[SIZE_CLASSES])
{
	memset(ret, 0, SIZE_CLASSES * sizeof(*ret));
	for (unsigned i = 0; i < histogram->room; i++) {
		uint64_t top = top_of(histogram->first + i);
		unsigned class = top ? 64 - __builtin_clzll(top) : 0;

		ret[class] += get(histogram, i);
	}
}
