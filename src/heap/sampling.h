/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SAMPLING_H
#define CALLTRAP_SAMPLING_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Sampling by bytes: of all bytes that are acquired, one after the other, some
 * are marked, at distances that are random with a given mean (exponential). A
 * block is sampled if any of its bytes is marked, so it is with a probability
 * that its size alone decides, and independently of all others.
 */
struct sampler {
	uint64_t mean; /* bytes; 0 or 1: every block is taken */
	uint64_t left; /* bytes before the next mark */
	uint64_t state;
};

/* The same seed gives the same samples. */
void sampler_init(struct sampler *sampler, uint64_t mean, uint64_t seed);
bool sampler_takes(struct sampler *sampler, uint64_t size);

/* From now on; what was before is no matter. */
void sampler_set_mean(struct sampler *sampler, uint64_t mean);

/*
 * What a sampled block stands for: so many of its size, in the mean the inverse
 * of the probability of being sampled, so that sums are right in the mean. A
 * whole number: it is rounded up or down by the key, at random, but always
 * alike. The variance is what it adds to that of the number of blocks; that of
 * bytes is size^2 of that.
 */
struct sample_weight {
	uint64_t count;
	double variance;
};

struct sample_weight sample_weigh(uint64_t mean, uint64_t size, uint64_t key);

/* How far a sum of weights may be off: second and third cumulant. */
struct sample_spread {
	double variance, third;
};

/* Of bytes. */
void sample_spread_add(struct sample_spread *sum,
		       const struct sample_weight *weight, uint64_t size);

struct estimate {
	uint64_t total;
	struct sample_spread spread;
};

/*
 * Where the truth lies in 95 of 100 cases. unit: what one sampled block brings
 * about, in case there is none (an estimate of 0 has no variance).
 */
struct estimate_range {
	uint64_t low, high;
};

struct estimate_range estimate_range(const struct estimate *estimate,
				     double unit);

/* What one sampled block brings about, of those that matter most. */
double estimate_unit(const struct estimate *estimate);

#endif
