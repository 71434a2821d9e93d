/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/price.h"

#include <math.h>

/* A place that is asked about must be known as well as this. */
#define WAYS_MIN 32
/* Then older ways count half, so that what is known follows the machine. */
#define WAYS_MAX 4096
/* Where a way is so many times the median, somebody else had the processor. */
#define USUAL 8
/* Stops after which all is looked at anew. */
#define WINDOW 128

void price_init(struct price *price, const struct price_gauge *gauge)
{
	*price = (struct price){ .gauge = *gauge, .now = gauge->other };
}

/* ---- the ways from one place ---- */

static unsigned bucket_of(uint64_t way)
{
	unsigned octave, part;

	if (way < 1u << PRICE_FIRST)
		return 0;
	octave = 63 - __builtin_clzll(way);
	part = way >> (octave - 2) & (PRICE_PARTS - 1);
	octave -= PRICE_FIRST;
	return octave < PRICE_OCTAVES ? octave * PRICE_PARTS + part :
					PRICE_BUCKETS - 1;
}

/* The middle of a bucket. */
static uint64_t way_of(unsigned bucket)
{
	uint64_t octave = 1ull << (bucket / PRICE_PARTS + PRICE_FIRST);

	return octave +
	       octave * (2 * (bucket % PRICE_PARTS) + 1) / (2 * PRICE_PARTS);
}

static void halve(struct price_ways *ways)
{
	ways->count = 0;
	ways->others /= 2;
	for (unsigned i = 0; i < PRICE_BUCKETS; i++) {
		ways->buckets[i] /= 2;
		ways->count += ways->buckets[i];
	}
}

void price_ways_add(struct price_ways *ways, uint64_t way, uint64_t others)
{
	if (others > way)
		others = way;
	if (ways->count >= WAYS_MAX)
		halve(ways);
	ways->count++;
	ways->others += others;
	ways->buckets[bucket_of(way - others)]++;
}

static uint64_t quantile(const struct price_ways *ways, unsigned percent)
{
	uint64_t wanted = (uint64_t)ways->count * percent / 100, seen = 0;
	unsigned i;

	for (i = 0; i < PRICE_BUCKETS - 1; i++) {
		seen += ways->buckets[i];
		if (seen > wanted)
			break;
	}
	return way_of(i);
}

static uint64_t mean(const struct price_ways *ways, uint64_t most)
{
	uint64_t sum = 0, count = 0;

	for (unsigned i = 0; i < PRICE_BUCKETS && way_of(i) <= most; i++) {
		sum += ways->buckets[i] * way_of(i);
		count += ways->buckets[i];
	}
	return count ? sum / count : 0;
}

static uint64_t deviation(const struct price_ways *ways, uint64_t most)
{
	const double middle = mean(ways, most);
	double sum = 0;
	uint64_t count = 0;

	for (unsigned i = 0; i < PRICE_BUCKETS && way_of(i) <= most; i++) {
		sum += ways->buckets[i] * (way_of(i) - middle) *
		       (way_of(i) - middle);
		count += ways->buckets[i];
	}
	return count ? sqrt(sum / count) : 0;
}

static uint64_t between(uint64_t low, uint64_t number, uint64_t high)
{
	return number < low ? low : number > high ? high : number;
}

static struct stop_price price_ways_price(const struct price_ways *ways)
{
	struct stop_price price = { 0 };
	uint64_t most;

	if (!ways->count)
		return price;
	most = quantile(ways, 90);
	price.least = quantile(ways, 25);
	price.typical = quantile(ways, 50);
	price.others = ways->others / ways->count;
	price.mean = mean(ways, price.typical * USUAL) + price.others;
	price.deviation = deviation(ways, price.typical * USUAL);
	price.typical += price.others;
	/* Nor is the price itself known any better than that. */
	price.resolution = between(price.typical / 2, most - price.least,
				   price.typical * USUAL);
	price.deviation =
		between(price.typical / 2, price.deviation, price.resolution);
	return price;
}

/* How long such a way has waited, if the dear ones have waited all that they could. */
static uint64_t waits_within(uint64_t way, uint64_t mean, uint64_t waits)
{
	uint64_t dear = mean > way ? mean - way : 0;

	return waits > dear ? between(0, waits - dear, way) : 0;
}

struct stop_price price_ways_bare(const struct price_ways *ways, uint64_t sum,
				  uint64_t waited)
{
	struct stop_price price = price_ways_price(ways);

	if (!ways->count)
		return price;
	price.typical = price.least;
	price.least = quantile(ways, 5); /* few of them, on a busy machine */
	price.mean = mean(ways, price.typical * 2);
	price.waits = waited / ways->count;
	price.least -=
		waits_within(price.least, sum / ways->count, price.waits);
	/* The rest is for others, who may be gone when it matters. */
	price.waits = between(0, price.waits, price.typical / 2);
	price.deviation = price.typical / 2;
	price.resolution = price.typical - price.least + price.deviation;
	return price;
}

/* ---- all of them ---- */

/* What comes often stays; what collides with it wears it off. */
static struct price_ways *find(struct price *price, taddr_t from, bool near)
{
	size_t i = (from ^ near) * 0x9e3779b97f4a7c15ull >> 58;
	struct price_ways *ways = &price->places[i];

	if (ways->from == from && ways->near == near)
		return ways;
	if (ways->count) {
		if (ways->count > WAYS_MIN)
			halve(ways);
		else
			ways->count--;
		return NULL;
	}
	*ways = (struct price_ways){ .from = from, .near = near };
	return ways;
}

/*
 * The ways from a place may be nothing but stops where a quarter of them is about as
 * short as they can be. Where it isn't, but no longer than this many times that, nobody
 * can tell: a machine has got as much slower since it was gauged (its clock, other
 * machines on it, what its caches hold).
 */
#define SLOWER 4

/* Of those that are no longer than so many halves of a bare stop: the shortest one. */
static bool find_shortest(const struct price *price, uint64_t bare,
			  unsigned halves, struct stop_price *ret)
{
	bool known = false;

	for (unsigned i = 0; i < PRICE_PLACES; i++) {
		const struct price_ways *ways = &price->places[i];
		struct stop_price found;

		if (ways->near != price->near || ways->count < WAYS_MIN ||
		    quantile(ways, 25) > bare * halves / 2)
			continue;
		found = price_ways_price(ways);
		if (!known || found.mean < ret->mean)
			*ret = found;
		known = true;
	}
	return known;
}

static void look(struct price *price, const struct stop_price *gauge)
{
	struct stop_price now = *gauge, slow;

	if (!find_shortest(price, gauge->typical, 3, &now) &&
	    find_shortest(price, gauge->typical, 2 * SLOWER, &slow)) {
		now.resolution = slow.least - now.least + slow.resolution;
		now.deviation = slow.least - now.least + slow.deviation;
	}
	now.waits = price->waits > gauge->waits ? price->waits - gauge->waits :
						  0;
	now.ran = gauge->ran;
	price->now = now;
}

void price_note_waits(struct price *price, uint64_t waits)
{
	price->waits = waits;
	look(price, price->near ? &price->gauge.same : &price->gauge.other);
}

void price_note(struct price *price, taddr_t from, uint64_t way,
		uint64_t others, bool near)
{
	const struct price_gauge *gauge = &price->gauge;
	struct price_ways *ways = find(price, from, near);
	bool moved = near != price->near;

	if (ways)
		price_ways_add(ways, way, others);
	price->near = near;
	if (++price->samples % WINDOW == 0 || moved)
		look(price, near ? &gauge->same : &gauge->other);
}

uint64_t price_guess(const struct stop_price *price, uint64_t others)
{
	return price->least + (others < price->others ? others : price->others);
}

uint64_t price_guess_sum(uint64_t least, uint64_t mean, uint64_t stops)
{
	return mean > least && stops ? mean - (mean - least) / sqrt(stops) :
				       least;
}

/* Deviations add up like those of any sum of many. */
uint64_t price_resolution(const struct stop_price *price, uint64_t stops)
{
	return stops ? price->resolution +
			       price->deviation * (sqrt(stops) - 1) :
		       0;
}
