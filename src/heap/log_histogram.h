/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_HISTOGRAM_H
#define CALLTRAP_LOG_HISTOGRAM_H

#include "base/types.h"

/*
 * How often which number came, by powers of two, each cut into
 * 2^LOG_HISTOGRAM_BITS parts. There are very many of these (three a
 * site), so each has room only for what lies between its extremes, in numbers
 * as wide as it needs. A zeroed one is empty.
 */
#define LOG_HISTOGRAM_BITS 2

struct log_histogram {
	uint64_t count;
	uint64_t max; /* exact */
	void *buckets;
	uint8_t first; /* the number of the first of them */
	uint8_t room;
	uint8_t width; /* of each, in bytes: 1, 2, 4, 8; 0: there are none */
};

void log_histogram_fini(struct log_histogram *histogram);
void log_histogram_add(struct log_histogram *histogram, uint64_t number);

/* The same number so many times. */
void log_histogram_add_many(struct log_histogram *histogram, uint64_t number,
			    uint64_t count);

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
