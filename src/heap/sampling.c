/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/sampling.h"

#include <math.h>

/* ---- random numbers ---- */

/* As of splitmix64: all bits of the result depend on all bits of the number. */
static uint64_t mix(uint64_t number)
{
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
	number = (number ^ number >> 27) * 0x94d049bb133111ebull;
	return number ^ number >> 31;
}

/* In [0, 1). */
static double fraction(uint64_t bits)
{
	return (double)(bits >> 11) / (double)(1ull << 53);
}

static uint64_t next_distance(struct sampler *sampler)
{
	sampler->state += 0x9e3779b97f4a7c15ull;
	return -log1p(-fraction(mix(sampler->state))) * (double)sampler->mean;
}

void sampler_init(struct sampler *sampler, uint64_t mean, uint64_t seed)
{
	*sampler = (struct sampler){ .state = mix(seed) };
	sampler_set_mean(sampler, mean);
}

void sampler_set_mean(struct sampler *sampler, uint64_t mean)
{
	sampler->mean = mean;
	if (mean > 1)
		sampler->left = next_distance(sampler);
}

/* Where a block has no byte it is taken for one of a byte. */
static uint64_t bytes_of(uint64_t size)
{
	return size ? size : 1;
}

/* What is left behind a mark is as random as if nothing had been before. */
bool sampler_takes(struct sampler *sampler, uint64_t size)
{
	if (sampler->mean <= 1)
		return true;
	if (sampler->left >= bytes_of(size)) {
		sampler->left -= bytes_of(size);
		return false;
	}
	sampler->left = next_distance(sampler);
	return true;
}

/* ---- what samples stand for ---- */

struct sample_weight sample_weigh(uint64_t mean, uint64_t size, uint64_t key)
{
	double chance, weight, part;

	if (mean <= 1)
		return (struct sample_weight){ .count = 1 };
	chance = -expm1(-(double)bytes_of(size) / (double)mean);
	weight = 1 / chance;
	part = weight - floor(weight);
	return (struct sample_weight){
		.count = (uint64_t)weight + (fraction(mix(key)) < part),
		.variance = (1 - chance) * weight * weight + part * (1 - part),
	};
}

/* ---- how sure that is ---- */

#define Z 1.959964 /* of 95 % */

void sample_spread_add(struct sample_spread *sum,
		       const struct sample_weight *weight, uint64_t size)
{
	const double bytes = size;

	sum->variance += weight->variance * bytes * bytes;
	sum->third += weight->variance * weight->variance / weight->count *
		      bytes * bytes * bytes;
}

double estimate_unit(const struct estimate *estimate)
{
	const struct sample_spread *spread = &estimate->spread;

	return spread->variance > 0 ? spread->third / spread->variance : 0;
}

/*
 * Wilson's interval, for sums of Poisson's numbers: where the truth is higher,
 * so is its variance, by as much as the third cumulant says. It holds for a few
 * samples, too, where two standard deviations to both sides are too short, and
 * symmetric where the truth isn't.
 */
struct estimate_range estimate_range(const struct estimate *estimate,
				     double unit)
{
	const double each = estimate->total ? estimate_unit(estimate) : unit;
	const double middle = estimate->total + each * Z * Z / 2;
	const double half =
		Z * sqrt(estimate->spread.variance + each * each * Z * Z / 4);
	const double low = floor(middle - half + 0.5);

	return (struct estimate_range){
		.low = low > 0 ? low : 0,
		.high = middle + half + 0.5,
	};
}
