/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HISTOGRAM_H
#define CALLTRAP_HISTOGRAM_H

#include "base/types.h"

/*
 * How often which number came, by powers of two that are cut into equal
 * parts: a quantile is off by at most one part in 64. A zeroed one is empty.
 */
#define HISTOGRAM_PARTS 32

struct histogram {
	uint64_t count;
	uint64_t max;
	uint64_t *octaves[65]; /* HISTOGRAM_PARTS counts each, or NULL */
};

void histogram_fini(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t number);

/* The same so many times. */
void histogram_add_many(struct histogram *histogram, uint64_t number,
			uint64_t times);

/*
 * What per_mille / 1000 of the numbers don't exceed, too large by 1/32 at
 * most; 0 if there are none.
 */
uint64_t histogram_quantile(const struct histogram *histogram,
			    unsigned per_mille);

#endif
