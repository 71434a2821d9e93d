/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_HISTOGRAM_H
#define CALLTRAP_LOG_HISTOGRAM_H

#include <stdbool.h>

#include "base/types.h"

/*
 * How often which number came, by powers of two, each cut into
 * 2^LOG_HISTOGRAM_BITS parts. There are very many of these (three a
 * site), so each has room only for what lies between its extremes, in numbers
 * as wide as it needs. A zeroed one is empty.
 */
#define LOG_HISTOGRAM_BITS  2
#define LOG_HISTOGRAM_PARTS (1u << LOG_HISTOGRAM_BITS)

struct log_histogram {
	uint64_t count;
	uint64_t max; /* exact */
	void *buckets;
	uint8_t first; /* the number of the first of them */
	uint8_t room;
	uint8_t width; /* of each, in bytes: 1, 2, 4, 8; 0: there are none */
};

void log_histogram_fini(struct log_histogram *histogram);

/* To a bucket that there isn't yet, or that has no room for them. */
void log_histogram_add_elsewhere(struct log_histogram *histogram,
				 unsigned bucket, uint64_t count);

/* Numbers below LOG_HISTOGRAM_PARTS each have a bucket of their own. */
static inline unsigned log_histogram_bucket(uint64_t number)
{
	unsigned shift;

	if (number < LOG_HISTOGRAM_PARTS)
		return number;
	shift = 63 - __builtin_clzll(number) - LOG_HISTOGRAM_BITS;
	return (shift << LOG_HISTOGRAM_BITS) + (number >> shift);
}

/* False where there is no such bucket, or it has no room for them. */
static inline bool log_histogram_add_at_once(struct log_histogram *histogram,
					     unsigned bucket, uint64_t count)
{
	const unsigned i = bucket - histogram->first;
	uint64_t sum;

	if (i >= histogram->room)
		return false;
	if (histogram->width == 1) {
		uint8_t *const place = (uint8_t *)histogram->buckets + i;

		sum = *place + count;
		if (sum <= UINT8_MAX)
			*place = sum;
		return sum <= UINT8_MAX;
	}
	if (histogram->width == 2) {
		uint16_t *const place = (uint16_t *)histogram->buckets + i;

		sum = *place + count;
		if (sum <= UINT16_MAX)
			*place = sum;
		return sum <= UINT16_MAX;
	}
	if (histogram->width == 4) {
		uint32_t *const place = (uint32_t *)histogram->buckets + i;

		sum = *place + count;
		if (sum <= UINT32_MAX)
			*place = sum;
		return sum <= UINT32_MAX;
	}
	return false;
}

/* The same number so many times. */
static inline void log_histogram_add_many(struct log_histogram *histogram,
					  uint64_t number, uint64_t count)
{
	const unsigned bucket = log_histogram_bucket(number);

	if (!log_histogram_add_at_once(histogram, bucket, count))
		log_histogram_add_elsewhere(histogram, bucket, count);
	histogram->count += count;
	if (number > histogram->max)
		histogram->max = number;
}

static inline void log_histogram_add(struct log_histogram *histogram,
				     uint64_t number)
{
	log_histogram_add_many(histogram, number, 1);
}

/* Adds all numbers of another one. */
void log_histogram_merge(struct log_histogram *histogram,
			 const struct log_histogram *other);

/*
 * What per_mille / 1000 of the numbers don't exceed: too large by a quarter at
 * most. 0 if there are none.
 */
uint64_t log_histogram_quantile(const struct log_histogram *histogram,
				unsigned per_mille);

size_t log_histogram_bytes(const struct log_histogram *histogram);

/*
 * For sizes: numbers of a histogram that was given size - 1 each, by powers of
 * two. ret[n] counts sizes in (2^(n-1), 2^n], ret[0] those up to 1.
 */
#define SIZE_CLASSES 65

void log_histogram_classes(const struct log_histogram *histogram,
			   uint64_t ret[SIZE_CLASSES]);

#endif
