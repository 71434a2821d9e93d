/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/gauge.h"
#include "tracee/price.h"
#include "unit.h"

static const struct price_gauge gauge = {
	.same = { .least = 5500,
		  .typical = 6000,
		  .mean = 6500,
		  .waits = 1000,
		  .resolution = 3000,
		  .deviation = 3000 },
	.other = { .least = 33000,
		   .typical = 36000,
		   .mean = 40000,
		   .resolution = 18000 },
};

static void check_about(uint64_t found, uint64_t wanted, const char *what)
{
	ck_assert_msg(found >= wanted * 3 / 4 && found <= wanted * 4 / 3,
		      "%s: %llu, wanted %llu", what, (unsigned long long)found,
		      (unsigned long long)wanted);
}

START_TEST(gauge_until_known)
{
	struct price price;

	price_init(&price, &gauge);
	ck_assert_uint_eq(price.now.typical, 36000);
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x1000, 500000, 0, true);
	ck_assert_uint_eq(price.now.typical, 6000);
}
END_TEST

/* One function takes no time, another one 100 µs. */
START_TEST(shortest_way)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++) {
		price_note(&price, 0x1000, 7000, 0, true);
		price_note(&price, 0x2000, 107000, 0, true);
	}
	check_about(price.now.typical, 7000, "typical");
	check_about(price.now.mean, 7000, "mean");
	ck_assert_uint_lt(price.now.resolution, 7000);
}
END_TEST

/*
 * One function, on our processor at first, then on another one that is idle:
 * what the stops there cost is no work of the program's.
 */
START_TEST(processors)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, 7000, 0, true);
	check_about(price.now.mean, 7000, "near");
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x1000, 45000, 0, false);
	check_about(price.now.mean, 45000, "far");
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x1000, 7000, 0, true);
	check_about(price.now.mean, 7000, "near again");
}
END_TEST

/* On a busy machine each second stop is dear. */
START_TEST(uneven_ways)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, i % 2 ? 8000 : 40000, 0, true);
	check_about(price.now.mean, 24000, "mean");
	ck_assert_uint_gt(price.now.resolution, 0);
}
END_TEST

/*
 * The machine has become slower than it was when it was gauged, or all that is trapped
 * takes a while: nobody can tell. So calls that take no more than that aren't told of.
 */
START_TEST(slower_than_gauged)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x1000, i % 2 ? 11500 : 15000, 0, true);
	ck_assert_uint_ge(price_guess(&price.now, 0) +
				  price_resolution(&price.now, 1),
			  15000);
	ck_assert_uint_ge(price.now.mean + price_resolution(&price.now, 1),
			  15000);
	/* Another one is brief now: the price is known. */
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x2000, 6000, 0, true);
	ck_assert_uint_lt(price_guess(&price.now, 0) +
				  price_resolution(&price.now, 1),
			  11500);
}
END_TEST

/* No machine gets as slow as that. */
START_TEST(long_functions_only)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 1024; i++)
		price_note(&price, 0x1000, 40000, 0, true);
	ck_assert_uint_eq(price.now.mean, gauge.same.mean);
	ck_assert_uint_eq(price.now.resolution, gauge.same.resolution);
}
END_TEST

/* One of 90 has waited, and all of the rest were as cheap as can be. */
START_TEST(one_way_has_waited)
{
	struct price_ways ways = { 0 };
	struct stop_price found;

	for (int i = 0; i < 90; i++)
		price_ways_add(&ways, i ? 6000 : 4000000, 0);
	found = price_ways_bare(&ways, 89 * 6000 + 4000000, 3990000);
	check_about(found.least, 6000, "least");
	check_about(found.typical, 6000, "typical");
	ck_assert_uint_lt(found.resolution, 6000);
}
END_TEST

/* What a stop costs without is not known then, and nothing is told by it. */
START_TEST(all_ways_have_waited)
{
	struct price_ways ways = { 0 };
	struct stop_price found;

	for (int i = 0; i < 20; i++)
		price_ways_add(&ways, 3000000, 0);
	found = price_ways_bare(&ways, 20 * 3000000, 20 * 2995000);
	ck_assert_uint_lt(found.least, 1000000);
	ck_assert_uint_ge(found.least + found.resolution, 3000000);
}
END_TEST

/* Eight threads, and one of us: that they wait for us is a price, too. */
START_TEST(work_for_others)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, 130000, 95000, false);
	check_about(price.now.mean, 130000, "mean");
}
END_TEST

/* A call is charged with what we worked for others while it ran, no more. */
START_TEST(guess)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, 130000, 95000, false);
	check_about(price_guess(&price.now, 95000), 130000, "waited");
	check_about(price_guess(&price.now, 50000000), 130000, "slept");
	check_about(price_guess(&price.now, 0), 35000, "was alone");
}
END_TEST

/*
 * On a busy machine a third of the stops cost a slice. To sleep for 50 ms takes
 * 50 ms there, too: what it was stopped for may have been cheap.
 */
START_TEST(guess_is_low)
{
	struct price price;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, i % 3 ? 7000 : 10000000, 0, true);
	ck_assert_uint_lt(price_guess(&price.now, 0), 10000);
	ck_assert_uint_gt(price.now.resolution, 40000);
}
END_TEST

/*
 * A call of 2,000 stops, of which each tenth is dear: what it worked for itself
 * is little beside that, but can be told.
 */
START_TEST(many_stops)
{
	const uint64_t stops = 2000;
	struct price price;
	uint64_t cost;

	price_init(&price, &gauge);
	for (int i = 0; i < 4096; i++)
		price_note(&price, 0x1000, i % 10 ? 50000 : 400000, 0, false);
	cost = price_guess_sum(price.now.least * stops, price.now.mean * stops,
			       stops);
	check_about(cost, 85000 * stops, "cost");
	ck_assert_uint_gt(price_resolution(&price.now, 1), 200000);
	ck_assert_uint_lt(price_resolution(&price.now, stops), 10000000);
	ck_assert_uint_eq(price_guess_sum(100, 300, 1), 100);
	ck_assert_uint_eq(price_guess_sum(100, 300, 4), 200);
	ck_assert_uint_eq(price_guess_sum(300, 100, 4), 300);
	ck_assert_uint_eq(price_guess_sum(0, 0, 0), 0);
}
END_TEST

START_TEST(waits)
{
	struct price price;

	price_init(&price, &gauge);
	price_note(&price, 0x1000, 7000, 0, true);
	price_note_waits(&price, 500);
	ck_assert_uint_eq(price.now.waits, 0);
	price_note_waits(&price, 81000);
	ck_assert_uint_eq(price.now.waits, 80000);
}
END_TEST

/* More traps than places: those that are hit most are known. */
START_TEST(many_places)
{
	struct price price;

	price_init(&price, &gauge);
	for (unsigned i = 0; i < 200000; i++) {
		price_note(&price, 0x1000 + i % 1000 * 16, 90000, 0, true);
		price_note(&price, 0x800, 7000, 0, true);
	}
	check_about(price.now.typical, 7000, "typical");
}
END_TEST

START_TEST(extremes)
{
	struct price price;

	price_init(&price, &(struct price_gauge){ 0 });
	for (int i = 0; i < 1024; i++)
		price_note(&price, i, i % 2 ? 0 : UINT64_MAX, UINT64_MAX,
			   i % 3);
	ck_assert_uint_eq(price_resolution(&price.now, UINT64_MAX), 0);
}
END_TEST

/* Several stops in one call. */
START_TEST(resolution)
{
	ck_assert_uint_eq(price_resolution(&gauge.same, 1), 3000);
	ck_assert_uint_eq(price_resolution(&gauge.same, 100), 30000);
}
END_TEST

/* This machine's: something, and no second. */
START_TEST(real_gauge)
{
	struct price_gauge found;

	gauge_take(&found);
	if (!found.same.typical)
		return; /* nothing may be traced here */
	ck_assert_uint_gt(found.same.typical, 100);
	ck_assert_uint_gt(found.other.typical, 100);
	ck_assert_uint_gt(found.same.resolution, 0);
}
END_TEST

static Suite *price_suite(void)
{
	Suite *suite = suite_create("price");
	TCase *tcase = tcase_create("price");

	tcase_add_test(tcase, gauge_until_known);
	tcase_add_test(tcase, shortest_way);
	tcase_add_test(tcase, processors);
	tcase_add_test(tcase, uneven_ways);
	tcase_add_test(tcase, slower_than_gauged);
	tcase_add_test(tcase, long_functions_only);
	tcase_add_test(tcase, one_way_has_waited);
	tcase_add_test(tcase, all_ways_have_waited);
	tcase_add_test(tcase, work_for_others);
	tcase_add_test(tcase, guess);
	tcase_add_test(tcase, guess_is_low);
	tcase_add_test(tcase, many_stops);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, many_places);
	tcase_add_test(tcase, extremes);
	tcase_add_test(tcase, resolution);
	tcase_add_test(tcase, real_gauge);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(price_suite());
}
