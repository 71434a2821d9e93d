/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "heap/forecast.h"
#include "heap/verdicts.h"
#include "report/heap/text.h"

static struct fixture f;
static unsigned state;

static unsigned pick(unsigned n)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % n;
}

static void setup(void)
{
	struct heap_options options = { .complete = true };

	state = 1;
	fixture_init(&f, &options);
}

static void teardown(void)
{
	fixture_fini(&f);
}

/* Worked out by hand: all 6 pairs rise, the variance is 4*3*13/18. */
START_TEST(trend_by_hand)
{
	double rising[] = { 1, 2, 4, 5 }, ties[] = { 3, 3, 3, 3 };
	struct trend trend = trend_of(rising, 4);

	ck_assert_double_eq_tol(trend.evidence, 5 / sqrt(156 / 18.0), 1e-9);
	ck_assert_double_eq_tol(trend.slope, (4 / 3.0 + 3 / 2.0) / 2, 1e-9);
	trend = trend_of(ties, 4);
	ck_assert(trend.evidence == 0 && trend.slope == 0);
}
END_TEST

/* Outliers don't matter, and the interval holds the truth. */
START_TEST(trend_of_noise)
{
	double numbers[TREND_POINTS];
	unsigned inside = 0;

	for (unsigned round = 0; round < 200; round++) {
		struct trend trend;

		for (unsigned i = 0; i < TREND_POINTS; i++)
			numbers[i] = 5.0 * i + pick(40);
		numbers[pick(TREND_POINTS)] = 100000;
		trend = trend_of(numbers, TREND_POINTS);
		ck_assert(fabs(trend.slope - 5) < 1.5);
		ck_assert(trend.evidence > 4);
		inside += trend.low <= 5 && 5 <= trend.high;
	}
	ck_assert_uint_ge(inside, 180);
}
END_TEST

/* No more false evidence than its 1 % promises, one-sided. */
static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All slopes, sorted; how many more rise than fall. */
static int sorted_slopes(const double *numbers, size_t count, double *slopes)
{
	size_t pairs = 0;
	int rises = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			const double rise = numbers[j] - numbers[i];

			slopes[pairs++] = rise / (j - i);
			rises += (rise > 0) - (rise < 0);
		}
	qsort(slopes, pairs, sizeof(*slopes), by_size);
	return abs(rises);
}

START_TEST(trend_is_of_the_middle)
{
	static double slopes[TREND_POINTS * TREND_POINTS];
	double numbers[TREND_POINTS];

	for (unsigned round = 0; round < 2000; round++) {
		const size_t count = 3 + pick(TREND_POINTS - 2);
		const size_t pairs = count * (count - 1) / 2;
		const int many = 1 << pick(15);
		struct trend trend;
		double half;
		int rises;

		for (size_t i = 0; i < count; i++)
			numbers[i] = pick(many);
		trend = trend_of(numbers, count);
		rises = sorted_slopes(numbers, count, slopes);
		ck_assert(trend.slope ==
			  (slopes[pairs / 2] + slopes[(pairs - 1) / 2]) / 2);
		if (rises < 2)
			continue;
		half = 0.98 * (rises - 1) / fabs(trend.evidence) + 1e-6;
		half = half > pairs / 2.0 ? pairs / 2.0 : half;
		ck_assert(trend.low == slopes[(size_t)(pairs / 2.0 - half)] ||
			  trend.low ==
				  slopes[(size_t)(pairs / 2.0 - half) + 1]);
		ck_assert(trend.low <= trend.slope &&
			  trend.slope <= trend.high);
	}
}
END_TEST

START_TEST(trend_of_nothing)
{
	double numbers[TREND_POINTS];
	unsigned wrong = 0;

	for (unsigned round = 0; round < 2000; round++) {
		for (unsigned i = 0; i < TREND_POINTS; i++)
			numbers[i] = pick(1000);
		wrong += trend_of(numbers, TREND_POINTS).evidence > 2.33;
	}
	ck_assert_uint_ge(wrong, 2);
	ck_assert_uint_le(wrong, 40);
}
END_TEST

static struct verdict judge(stack_id stack)
{
	struct survey *survey = survey_new(f.heap, f.now, 0);
	struct verdict verdict =
		verdict_of(f.heap, site_of(&f, stack, NULL), survey);

	survey_free(survey);
	return verdict;
}

static void check_verdict(stack_id stack, enum verdict_level level,
			  enum verdict_reason reason, const char *why)
{
	struct verdict verdict = judge(stack);
	struct strbuf text = { 0 };

	verdict_explain(&verdict, site_of(&f, stack, NULL), &text);
	ck_assert_msg(verdict.level == level, "%s: %s",
		      verdict_name(verdict.level), strbuf_text(&text));
	ck_assert_int_eq(verdict.reason, reason);
	if (why)
		ck_assert_str_eq(strbuf_text(&text), why);
	strbuf_fini(&text);
}

/* Nothing is acquired while counting is off; that is no sign of health. */
START_TEST(switched_off)
{
	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	heap_switch(f.heap, f.now, false);
	f.now += 600 * SECOND;
	heap_switch(f.heap, f.now, true);
	ck_assert_uint_eq(heap_off_time(f.heap), 600 * SECOND);
	for (unsigned i = 60; i < 120; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	heap_switch(f.heap, f.now, false);
	f.now += 600 * SECOND;
	f.now = heap_time(f.heap, f.now);
	ck_assert_uint_eq(judge(1).level, VERDICT_LIKELY);
	/* From the first block to the last. */
	ck_assert_uint_eq(judge(1).watched, 119 * SECOND);
}
END_TEST

/* It stands still for so long, seen by looks that are a second apart. */
static void stand_still(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		f.now += SECOND;
		heap_held_up(f.heap, &(struct heap_held_up){ f.now - SECOND,
							     f.now, SECOND });
	}
}

/* A block each 20 ms. */
static void leak_until(unsigned blocks)
{
	for (; f.call < blocks; f.call++) {
		f.now += SECOND / 50;
		acquire(&f, "malloc", 0x1000 + f.call * 16, 4);
	}
}

/* As by SIGSTOP, in the midst of a steady leak and elsewhere. */
START_TEST(stood_still)
{
	leak_until(_i * 50);
	stand_still(12);
	leak_until(400);
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* It may as well have given up what it did. */
START_TEST(slept)
{
	leak_until(250);
	f.now += 12 * SECOND;
	leak_until(400);
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_SLOWED, NULL);
}
END_TEST

/* It comes to a full store as soon as it runs, however long it stands. */
START_TEST(stood_still_and_full)
{
	leak_until(100);
	stand_still(12);
	leak_until(120);
	for (unsigned i = 0; i < 10; i++) {
		f.now += SECOND;
		heap_held_up(f.heap, &(struct heap_held_up){ f.now - SECOND,
							     f.now, 0 });
	}
	check_verdict(1, VERDICT_NOT, VERDICT_KEPT, NULL);
}
END_TEST

/* It gets ever less of a processor, and does all the less. */
START_TEST(starves)
{
	for (unsigned i = 0; i < 400; i++) {
		const uint64_t waited = SECOND / 50 * (i / 40);
		const struct heap_held_up held_up = {
			f.now, f.now + SECOND / 50 + waited, waited
		};

		f.now = held_up.until;
		heap_held_up(f.heap, &held_up);
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* As many are added in ever more of its own time: the waits don't matter. */
START_TEST(slows_and_starves)
{
	for (unsigned i = 0; i < 200; i++) {
		const uint64_t own = SECOND / 50 * (1 + i / 20);
		const struct heap_held_up held_up = { f.now, f.now + 2 * own,
						      own };

		f.now = held_up.until;
		heap_held_up(f.heap, &held_up);
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_SLOWED, NULL);
}
END_TEST

/* Whoever attached to it and finds it stopped does not think it idle. */
START_TEST(is_still_stopped)
{
	struct heap_options options = { 0 };

	fixture_fini(&f);
	fixture_init(&f, &options);
	leak_until(400);
	stand_still(12);
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

static void look(uint64_t blocks, uint64_t lost, const char *owner)
{
	struct heap_reach *reach = xcalloc(1, sizeof(*reach));

	reach->count = heap_site_count(f.heap);
	reach->sites = xcalloc(reach->count, sizeof(*reach->sites));
	reach->sites[0] = (struct site_reach){
		.blocks = blocks,
		.bytes = 4 * blocks,
		.lost_blocks = lost,
		.lost_bytes = 4 * lost,
		.owner = owner ? xstrdup(owner) : NULL,
		.own_bytes = owner ? 3 * blocks : 0,
	};
	heap_set_reach(f.heap, reach);
}

START_TEST(unreachable)
{
	acquire(&f, "malloc", 0x1000, 4);
	acquire(&f, "malloc", 0x1010, 4);
	f.now += SECOND;
	check_verdict(1, VERDICT_NOT, VERDICT_FEW, NULL);
	look(2, 1, NULL);
	check_verdict(1, VERDICT_LIKELY, VERDICT_UNREACHABLE,
		      "1 of 2 blocks, 4 bytes, can't be reached any more: no "
		      "pointer leads there");
	ck_assert_uint_eq(judge(1).leaked_bytes, 4);
	look(2, 2, NULL);
	check_verdict(1, VERDICT_LIKELY, VERDICT_UNREACHABLE,
		      "all of its 2 blocks can't be reached any more: no "
		      "pointer leads there");
	look(0, 0, NULL);
	check_verdict(1, VERDICT_NOT, VERDICT_FEW, NULL);
}
END_TEST

/* Its address may lie in a pipe, as that of others did for as long. */
START_TEST(under_way)
{
	const uint64_t ms = NS_PER_SECOND / 1000, now = 1000 * NS_PER_SECOND;
	struct site site = { .number = 1 };
	struct heap_block block = { .site = &site, .birth = now - 50 * ms };

	for (int i = 0; i < 7; i++)
		log_histogram_add(&site.lifetimes, 40 * ms);
	ck_assert(!heap_block_may_be_under_way(&block, now));
	log_histogram_add(&site.lifetimes, 30 * ms);
	ck_assert(heap_block_may_be_under_way(&block, now));
	block.birth = now - 81 * ms;
	ck_assert(!heap_block_may_be_under_way(&block, now));
	/* Nobody waits for a reader of pipes for ever. */
	log_histogram_add(&site.lifetimes, 5000 * ms);
	ck_assert(heap_block_may_be_under_way(&block, now));
	block.birth = now - 1001 * ms;
	ck_assert(!heap_block_may_be_under_way(&block, now));
	log_histogram_fini(&site.lifetimes);
}
END_TEST

START_TEST(reached)
{
	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	look(60, 0, "cache (shop .bss+0x20)");
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED,
		      "none of 60 blocks was given back in 59 s, and more "
		      "keep coming: 1 block a second; all can still be "
		      "reached, 75 % of the bytes only through cache (shop "
		      ".bss+0x20), which grows");
	/* More is growing than is lost. */
	look(50, 2, NULL);
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED,
		      "none of 60 blocks was given back in 59 s, and more "
		      "keep coming: 1 block a second; 2 blocks can't be "
		      "reached any more");
	look(50, 0, NULL);
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED,
		      "none of 60 blocks was given back in 59 s, and more "
		      "keep coming: 1 block a second; those looked at can "
		      "still be reached");
}
END_TEST

/* However much more a cache beside it holds. */
START_TEST(lost_blocks_come_first)
{
	const struct heap_report_options options = { .by = HEAP_BY_STACK };
	const struct heap_report_config config = { .options = &options,
						   .families = f.families };
	struct heap_rows rows;

	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		f.stack = 1;
		acquire(&f, "malloc", 0x1000 + i * 16, 4000);
		f.stack = 2;
		acquire(&f, "malloc", 0x100000 + i * 16, 4);
	}
	rows = heap_rows_of(&config, f.heap, f.now);
	ck_assert_uint_eq(rows.list[0]->site->stack, 1);
	ck_assert_uint_eq(rows.levels[VERDICT_LIKELY].lost_blocks, 0);
	heap_rows_fini(&rows);
	look(60, 0, "cache (shop .bss+0x20)");
	((struct heap_reach *)heap_reach(f.heap))->sites[1] =
		(struct site_reach){ .blocks = 60,
				     .bytes = 240,
				     .lost_blocks = 60,
				     .lost_bytes = 240 };
	rows = heap_rows_of(&config, f.heap, f.now);
	ck_assert_uint_eq(rows.list[0]->site->stack, 2);
	ck_assert_uint_eq(rows.list[1]->site->stack, 1);
	ck_assert_int_eq(rows.list[1]->verdict->level, VERDICT_LIKELY);
	ck_assert_uint_eq(rows.levels[VERDICT_LIKELY].lost_blocks, 60);
	ck_assert_uint_eq(rows.levels[VERDICT_LIKELY].lost_bytes, 240);
	heap_rows_fini(&rows);
}
END_TEST

static void acquire_at(stack_id stack, uint64_t handle)
{
	f.stack = stack;
	acquire(&f, "malloc", handle, 40);
}

static void check_all_freed(const struct heap_row *row)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	ck_assert_uint_eq(row->blocks, 0);
	ck_assert_uint_eq(row->freed_blocks, 1);
	ck_assert_uint_eq(row->lifetimes->count, 1);
	ck_assert_uint_ge(row->lifetimes->max, SECOND);
	ck_assert_uint_eq(row->ages->count, 0);
	verdict_explain(row->verdict, row->site, &why);
	ck_assert_str_eq(strbuf_text(&why), "all of 1 block were given back");
}

#define STACKS      10000
#define HOLD        10 /* one in so many */
#define STACK_BYTES 400

/* Most of what compilers call from 100,000 stacks has been given back by the time
   of the report. */
START_TEST(rows_of_many_stacks_are_small)
{
	const struct heap_report_options options = { .by = HEAP_BY_STACK };
	const struct heap_report_config config = { .options = &options,
						   .families = f.families };
	struct mallinfo2 before;
	struct heap_rows rows;
	size_t held = 0;

	for (unsigned i = 1; i <= STACKS; i++) {
		acquire_at(i, 0x1000 + i * 64);
		f.now += SECOND;
		if (i % HOLD)
			release(&f, "free", 0x1000 + i * 64, 0);
	}
	before = mallinfo2();
	rows = heap_rows_of(&config, f.heap, f.now);
	ck_assert_uint_lt(mallinfo2().uordblks + mallinfo2().hblkhd,
			  before.uordblks + before.hblkhd +
				  STACKS * STACK_BYTES);
	ck_assert_uint_eq(rows.count, STACKS);
	for (size_t i = 0; i < rows.count; i++) {
		if (!rows.list[i]->blocks) {
			check_all_freed(rows.list[i]);
			continue;
		}
		held++;
		ck_assert_uint_eq(rows.list[i]->ages->count, 1);
		ck_assert_int_eq(rows.list[i]->verdict->reason, VERDICT_FEW);
	}
	ck_assert_uint_eq(held, STACKS / HOLD);
	heap_rows_fini(&rows);
}
END_TEST

/* Dropped, but only a collector can find it: it is none of a leak's, unless that
   collector never comes. */
START_TEST(waits_for_a_collector)
{
	struct heap_reach *reach;

	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	look(60, 0, NULL);
	reach = (struct heap_reach *)heap_reach(f.heap);
	reach->sites[0].listed_blocks = 50;
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_LISTED,
		      "50 of 60 blocks are what Python has dropped: kept for "
		      "new objects, or garbage that its collector hasn't come "
		      "to, and will give back unless gc is disabled");
	/* Not all of it is found. */
	reach->sites[0].listed_blocks = 10;
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_LISTED,
		      "10 of 60 blocks are what Python has dropped: kept for "
		      "new objects, or garbage that its collector hasn't come "
		      "to, and will give back unless gc is disabled; others "
		      "may be, too");
	reach->sites[0].listed_blocks = 4;
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* A seventh of it is enough. */
START_TEST(garbage_in_seven)
{
	struct heap_reach *reach;

	for (unsigned i = 0; i < 63; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	look(63, 0, NULL);
	reach = (struct heap_reach *)heap_reach(f.heap);
	reach->sites[0].listed_blocks = 9;
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_LISTED, NULL);
	reach->sites[0].listed_blocks = 8;
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* What was dropped a moment ago says nothing of what stays for ever. */
START_TEST(leaks_beside_young_garbage)
{
	struct heap_reach *reach;

	for (unsigned i = 0; i < 3000; i++) {
		f.now += SECOND / 50;
		acquire(&f, "malloc", 0x10000 + i * 16, 4);
		if (i >= 50 && (i - 50) % 50)
			release(&f, "free", 0x10000 + (i - 50) * 16, 0);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_OLD_AND_MORE, NULL);
	look(109, 0, NULL);
	reach = (struct heap_reach *)heap_reach(f.heap);
	reach->sites[0].listed_blocks = 80;
	reach->sites[0].listed_old = 4;
	check_verdict(1, VERDICT_LIKELY, VERDICT_OLD_AND_MORE, NULL);
	reach->sites[0].listed_old = 50;
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_LISTED, NULL);
}
END_TEST

START_TEST(never_freed_and_taken_back)
{
	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED,
		      "none of 60 blocks was given back in 59 s, and more "
		      "keep coming: 1 block a second");
	for (unsigned i = 0; i < 59; i++)
		release(&f, "free", 0x1000 + i * 16, 0);
	f.now += SECOND;
	check_verdict(1, VERDICT_NOT, VERDICT_FEW, NULL);
	release(&f, "free", 0x1000 + 59 * 16, 0);
	check_verdict(1, VERDICT_NOT, VERDICT_ALL_FREED,
		      "all of 60 blocks were given back");
}
END_TEST

/* One in fifty is forgotten; the others live for a millisecond. */
START_TEST(some_are_forgotten)
{
	for (unsigned i = 0; i < 2000; i++) {
		f.now += SECOND / 50;
		acquire(&f, "malloc", 0x1000 + i * 16, 100);
		f.now += SECOND / 1000;
		if (i % 50)
			release(&f, "free", 0x1000 + i * 16, 0);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_OLD_AND_MORE, NULL);
	ck_assert_uint_eq(judge(1).old_blocks, 40);
}
END_TEST

/* A part in the midst of each is given back: two pieces of one mapping. */
START_TEST(no_more_are_old_than_there_are)
{
	for (unsigned i = 0; i < 2000; i++) {
		const uint64_t at = (i + 1) * 0x10000ull;

		f.now += SECOND / 50;
		acquire(&f, "mmap", at, 0x4000);
		f.now += SECOND / 1000;
		if (i % 50)
			release(&f, "munmap", at, 0x4000);
		else
			release(&f, "munmap", at + 0x1000, 0x1000);
	}
	ck_assert_uint_eq(judge(1).blocks, 40);
	ck_assert_uint_eq(judge(1).old_blocks, 40);
}
END_TEST

/* Blocks live for a second, and one in forty for ever. First there are a hundred
   at a time, later twenty: what is held gets less for a while. */
START_TEST(a_few_stay_while_fewer_come)
{
	uint64_t births[2000];
	unsigned done = 0;

	for (unsigned i = 0; i < 2000; i++) {
		f.now += i < 1000 ? SECOND / 100 : SECOND / 20;
		births[i] = f.now;
		acquire(&f, "malloc", 0x1000 + i * 16, 100);
		for (; births[done] + SECOND < f.now; done++)
			if (done % 40)
				release(&f, "free", 0x1000 + done * 16, 0);
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_OLD_ONES, NULL);
}
END_TEST

/* The same, watched for less than ten lifetimes. */
START_TEST(a_few_stay_in_a_short_time)
{
	uint64_t births[520];
	unsigned done = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(births); i++) {
		f.now += i < 400 ? SECOND / 100 : SECOND / 22;
		births[i] = f.now;
		acquire(&f, "malloc", 0x1000 + i * 16, 100);
		for (; births[done] + SECOND < f.now; done++)
			if (done % 40)
				release(&f, "free", 0x1000 + done * 16, 0);
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_OLD_ONES, NULL);
}
END_TEST

/* Made at the start, while another site goes on. */
START_TEST(kept)
{
	for (unsigned i = 0; i < 200; i++) {
		f.now += SECOND / 100;
		acquire(&f, "malloc", 0x1000 + i * 16, 100);
	}
	f.now += 20 * SECOND;
	check_verdict(1, VERDICT_NOT, VERDICT_KEPT, NULL);
}
END_TEST

/* A ring of 100: full soon, and turning over ever since. */
START_TEST(turnover)
{
	for (unsigned i = 0; i < 3000; i++) {
		f.now += SECOND / 50;
		acquire(&f, "malloc", 0x1000 + i * 16, 100);
		if (i >= 100)
			release(&f, "free", 0x1000 + (i - 100) * 16, 0);
	}
	check_verdict(1, VERDICT_NOT, VERDICT_TURNOVER, NULL);
}
END_TEST

/* By as much each time, for 50 seconds. */
static void make_larger(unsigned times)
{
	acquire(&f, "malloc", 0x1000, 100);
	f.stack = 2;
	for (unsigned i = 1; i <= times; i++) {
		f.now += 50 * SECOND / times;
		resize(&f, "realloc", 0x1000 + (i - 1) * 16, 0x1000 + i * 16,
		       100 + i * 50);
	}
}

/* As a leak of so many blocks. */
START_TEST(one_block_made_larger)
{
	make_larger(500);
	check_verdict(2, VERDICT_LIKELY, VERDICT_LARGER, NULL);
	ck_assert_uint_eq(judge(2).leaked_bytes, 100 + 500 * 50);
}
END_TEST

START_TEST(one_block_made_larger_in_few_steps)
{
	make_larger(20);
	check_verdict(2, VERDICT_POSSIBLE, VERDICT_LARGER, NULL);
}
END_TEST

/* One was given back before: this one may be. */
START_TEST(one_block_made_larger_as_another_was)
{
	f.stack = 2;
	resize(&f, "realloc", 0, 0x100, 10);
	f.now += SECOND;
	release(&f, "free", 0x100, 0);
	f.stack = 1;
	make_larger(500);
	check_verdict(2, VERDICT_POSSIBLE, VERDICT_LARGER, NULL);
}
END_TEST

/* Ever fewer pieces come. */
START_TEST(one_block_made_larger_ever_more_rarely)
{
	acquire(&f, "malloc", 0x1000, 100);
	f.stack = 2;
	for (unsigned i = 1; i <= 100; i++) {
		f.now += i * SECOND / 100;
		resize(&f, "realloc", 0x1000 + (i - 1) * 16, 0x1000 + i * 16,
		       100 + i * 50);
	}
	check_verdict(2, VERDICT_POSSIBLE, VERDICT_LARGER, NULL);
}
END_TEST

/* Each is made in four steps, and then forgotten: 2,500 blocks a second. */
START_TEST(blocks_made_in_steps)
{
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t handle = 0x100000 + i * 4096;

		f.now += SECOND / 2500;
		resize(&f, "realloc", 0, handle, 100);
		for (unsigned k = 1; k < 4; k++)
			resize(&f, "realloc", handle, handle, 100 + k * 100);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED,
		      "none of 5,000 blocks was given back in 2 s, and more "
		      "keep coming: 2,500 blocks a second");
}
END_TEST

/* The same in less than half a second, and in more. */
START_TEST(no_haste)
{
	for (unsigned i = 0; i < 200; i++) {
		f.now += SECOND / 500;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_NEVER_FREED,
		      "none of 200 blocks was given back in 398 ms, and more "
		      "keep coming: 499 blocks a second; too little was seen "
		      "to be sure");
	for (unsigned i = 200; i < 300; i++) {
		f.now += SECOND / 500;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
	}
	check_verdict(1, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* Two sites grow by 900 and 50 bytes a second, a third one doesn't. */
START_TEST(growth_and_forecast)
{
	const struct family *family =
		families_find(f.families, "malloc")->family;
	struct rise_source sources[4];
	struct forecast forecast;
	struct rise rise;
	struct strbuf text = { 0 };
	struct survey *survey;

	for (unsigned i = 0; i < 600; i++) {
		f.now += SECOND / 10;
		f.stack = 1;
		acquire(&f, "malloc", 0x100000 + i * 16, 86 + pick(9));
		f.stack = 2;
		acquire(&f, "malloc", 0x200000 + i * 16, 5);
		f.stack = 3;
		acquire(&f, "malloc", 0x300000, 1000);
		release(&f, "free", 0x300000, 0);
	}
	rise = rise_of(heap_total_history(f.heap, family), f.now - START);
	ck_assert(rise.certain);
	ck_assert(fabs(rise.trend.slope - 950) < 20);
	forecast = forecast_of(&rise, 950 * 11400); /* 3 h 10 min */
	ck_assert(forecast.certain);
	ck_assert(forecast.earliest <= 11400 * SECOND);
	ck_assert(forecast.latest >= 11400 * SECOND);
	ck_assert(forecast.latest - forecast.earliest < 1200 * SECOND);
	forecast_print(&forecast, &text);
	ck_assert_msg(!strncmp(strbuf_text(&text), "in 3 h 10 min ± ", 16),
		      "%s", strbuf_text(&text));
	survey = survey_new(f.heap, f.now, 0);
	ck_assert_uint_eq(rise_sources(f.heap, family, survey, sources, 4), 1);
	survey_free(survey);
	ck_assert_uint_eq(sources[0].site->stack, 1);
	ck_assert(fabs(sources[0].share - 0.947) < 0.02);
	ck_assert(!forecast_of(&rise, UINT64_MAX / 2).certain);
	strbuf_fini(&text);
}
END_TEST

/* Where it leads is only told if somebody has seen how much there is; of one that
   has ended, where it would have led. */
START_TEST(room_and_end)
{
	const struct forecast forecast = { true, 60 * SECOND, 59 * SECOND,
					   61 * SECOND };
	struct watched process = { .state = WATCHED_LEFT };
	struct output output = { .fd = -1 };
	const struct heap_text text = { .process = &process,
					.output = &output };
	struct vitals vitals = { .resident_bytes = 10 };
	struct heap_text_room room;

	ck_assert(!heap_text_room(&vitals, &room));
	vitals.machine_bytes = 100;
	ck_assert(heap_text_room(&vitals, &room) && room.bytes == 90);
	vitals.limit_bytes = 50;
	vitals.cgroup_bytes = 51;
	ck_assert(heap_text_room(&vitals, &room) && room.bytes == 0);
	heap_text_forecast(&text, "", &room, &forecast);
	ck_assert_str_eq(strbuf_text(&output.text),
			 "the cgroup's limit in 60 s ± 1 s");
	strbuf_clear(&output.text);
	process.state = WATCHED_EXITED;
	heap_text_forecast(&text, ": ", &room, &forecast);
	ck_assert_str_eq(strbuf_text(&output.text),
			 ": the cgroup's limit in 60 s ± 1 s if it had "
			 "not ended");
	strbuf_fini(&output.text);
}
END_TEST

/* What goes up and down foretells nothing. */
START_TEST(silence_without_a_trend)
{
	const struct family *family =
		families_find(f.families, "malloc")->family;
	struct rise rise;
	struct forecast forecast;
	struct strbuf text = { 0 };
	unsigned live = 0;

	for (unsigned i = 0; i < 3000; i++) {
		f.now += SECOND / 10;
		if (live && pick(100) < live)
			release(&f, "free", 0x1000 + --live * 16, 0);
		else
			acquire(&f, "malloc", 0x1000 + live++ * 16, 100);
	}
	rise = rise_of(heap_total_history(f.heap, family), f.now - START);
	ck_assert(!rise.certain);
	forecast = forecast_of(&rise, 1000);
	forecast_print(&forecast, &text);
	ck_assert_str_eq(strbuf_text(&text), "");
	rise = rise_of(heap_total_history(f.heap, family), 1000);
	ck_assert(!rise.certain);
}
END_TEST

START_TEST(durations)
{
	static const struct {
		uint64_t nanoseconds;
		const char *text;
	} examples[] = {
		{ 0, "0 µs" },
		{ 310500, "310 µs" },
		{ 999400, "999 µs" },
		{ 999600, "1 ms" },
		{ 2500000, "2.5 ms" },
		{ 999600000, "1 s" },
		{ 59 * SECOND, "59 s" },
		{ 150 * SECOND, "2 min 30 s" },
		{ 11400 * SECOND, "3 h 10 min" },
		{ 50 * 3600 * SECOND, "2 d 2 h" },
	};
	struct strbuf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		strbuf_clear(&text);
		strbuf_add_duration(&text, examples[i].nanoseconds);
		ck_assert_str_eq(strbuf_text(&text), examples[i].text);
	}
	strbuf_fini(&text);
}
END_TEST

/* As attached to: what is given back unknown was there before. */
static void begin_anew(void)
{
	struct heap_options options = { .complete = false };

	fixture_fini(&f);
	fixture_init(&f, &options);
}

/* So many temporary blocks, which say how much is done. */
static void work(unsigned count)
{
	stack_id stack = f.stack;

	f.stack = 9;
	for (unsigned i = 0; i < count; i++) {
		acquire(&f, "malloc", 0x10, 8);
		f.now += 1000;
		release(&f, "free", 0x10, 0);
	}
	f.stack = stack;
}

/* A pure leak that comes ever slower, but still comes, is never NOT. */
START_TEST(fewer_and_fewer)
{
	uint64_t handle = 0x1000;

	for (unsigned second = 0; second < 60; second++) {
		for (unsigned i = 0; i < 400 / (1 + second * second); i++)
			acquire(&f, "malloc", handle += 16, 4);
		if (second % 9 == 5)
			acquire(&f, "malloc", handle += 16, 4);
		work(100);
		f.now += SECOND;
	}
	ck_assert_int_eq(judge(1).level, VERDICT_POSSIBLE);
	ck_assert_int_eq(judge(1).reason, VERDICT_SLOWED);
}
END_TEST

/* One leak in twenty requests, of which there are sixty a second, then three. */
START_TEST(traffic_falls)
{
	uint64_t handle = 0x1000;
	unsigned requests = 0;

	begin_anew();
	for (unsigned second = 0; second < 30; second++) {
		unsigned count = second < 20 ? 60 : 3;

		for (unsigned i = 0; i < count; i++) {
			if (requests++ % 20 == 3)
				acquire(&f, "malloc", handle += 16, 4);
			work(3);
			f.now += SECOND / count;
		}
	}
	ck_assert_int_eq(judge(1).level, VERDICT_LIKELY);
}
END_TEST

/* The same in seconds, but the work goes on: it was acquired once. */
START_TEST(work_goes_on)
{
	uint64_t handle = 0x1000;

	begin_anew();
	for (unsigned second = 0; second < 30; second++) {
		for (unsigned i = 0; i < 60; i++) {
			if (second < 20 && i % 20 == 3)
				acquire(&f, "malloc", handle += 16, 4);
			work(3);
			f.now += SECOND / 60;
		}
	}
	check_verdict(1, VERDICT_NOT, VERDICT_KEPT, NULL);
}
END_TEST

static void check_rise_is_of(stack_id stack)
{
	const struct family *family =
		families_find(f.families, "malloc")->family;
	struct survey *survey = survey_new(f.heap, f.now, 0);
	struct rise all =
		rise_of(heap_total_history(f.heap, family), f.now - START);
	struct rise rise = all;
	struct rise_source source;

	rise_without_replaced(&rise, f.heap, family, survey);
	ck_assert(rise.trend.slope < all.trend.slope / 3);
	ck_assert_uint_eq(rise_sources(f.heap, family, survey, &source, 1), 1);
	ck_assert_uint_eq(source.site->stack, stack);
	survey_free(survey);
}

/* A store with entries of 45 s that was full before, watched for 30 s; beside
   it, with another number of blocks, something leaks. */
START_TEST(turnover_longer_than_watched)
{
	begin_anew();
	for (unsigned i = 0; i < 300; i++) {
		acquire(&f, "malloc", 0x100000 + i * 64, 40);
		if (i % 3 == 1) {
			f.stack = 3;
			acquire(&f, "malloc", 0x200000 + i * 64, 40);
		}
		f.stack = 2;
		release(&f, "free", 0x300000 + i * 64, 0);
		f.stack = 1;
		f.now += SECOND / 10;
	}
	check_rise_is_of(3);
	check_verdict(1, VERDICT_NOT, VERDICT_REPLACED,
		      "300 blocks are new, and 300 blocks of before were "
		      "given back meanwhile: they live longer than was "
		      "watched");
	ck_assert_int_eq(judge(3).level, VERDICT_LIKELY);
}
END_TEST

/* Twelve and twelve are equal by chance: that is no proof. */
START_TEST(few_are_as_many)
{
	begin_anew();
	for (unsigned i = 0; i < 12; i++) {
		acquire(&f, "malloc", 0x100000 + i * 64, 40);
		f.stack = 2;
		release(&f, "free", 0x300000 + i * 64, 0);
		f.stack = 1;
		f.now += 2 * SECOND;
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_REPLACED, NULL);
	ck_assert_uint_gt(judge(1).enough, 24 * SECOND);
}
END_TEST

/* What was there before and is made larger is no more than before. */
START_TEST(resized_of_before)
{
	begin_anew();
	for (unsigned i = 0; i < 100; i++) {
		resize(&f, "realloc", 0x100000 + i * 64, 0x200000 + i * 64, 80);
		f.now += SECOND / 4;
	}
	ck_assert_int_eq(judge(1).level, VERDICT_NOT);
	ck_assert_int_eq(judge(1).reason, VERDICT_REPLACED);
}
END_TEST

/* One block in ten is forgotten: that share is told, not all that is held. */
START_TEST(share_that_is_leaked)
{
	struct verdict verdict;

	for (unsigned i = 0; i < 3000; i++) {
		acquire(&f, "malloc", 0x100000 + i * 64, 10);
		if (i >= 100 && i % 10)
			release(&f, "free", 0x100000 + (i - 100) * 64, 0);
		f.now += SECOND / 100;
	}
	verdict = judge(1);
	ck_assert_int_eq(verdict.level, VERDICT_LIKELY);
	ck_assert_uint_ge(verdict.blocks, 390);
	ck_assert_uint_ge(verdict.leaked_blocks, 270);
	ck_assert_uint_le(verdict.leaked_blocks, 330);
	ck_assert_uint_eq(verdict.leaked_bytes, 10 * verdict.leaked_blocks);
}
END_TEST

/* A block that doubles whenever it is full, for ever. */
START_TEST(block_that_doubles)
{
	uint64_t size = 1000;

	acquire(&f, "malloc", 0x1000, 10);
	f.stack = 2;
	resize(&f, "realloc", 0, 0x2000, size);
	for (unsigned second = 1; second < 30; second++) {
		f.now += SECOND;
		if (second != 2 && second != 5 && second != 11 && second != 20)
			continue;
		size *= 2;
		resize(&f, "realloc", 0x2000, 0x2000, size);
	}
	check_verdict(2, VERDICT_POSSIBLE, VERDICT_LARGER, NULL);
}
END_TEST

/* It was seen to double twice, and is nearly full again; or nothing has come for
   long. */
START_TEST(block_that_doubled)
{
	const unsigned seconds = _i ? 60 : 31;

	acquire(&f, "malloc", 0x1000, 10);
	f.stack = 2;
	for (unsigned second = 1; second < seconds; second++) {
		f.now += SECOND;
		if (second == 4)
			resize(&f, "realloc", 0, 0x2000, 8000);
		else if (second == 8)
			resize(&f, "realloc", 0x2000, 0x2000, 16000);
		else if (second == 16)
			resize(&f, "realloc", 0x2000, 0x2000, 32000);
	}
	check_verdict(2, _i ? VERDICT_NOT : VERDICT_POSSIBLE,
		      _i ? VERDICT_FEW : VERDICT_LARGER, NULL);
}
END_TEST

/* Few were seen: it is said how long to watch; and no rate is 0. */
START_TEST(too_few_yet)
{
	struct strbuf text = { 0 };
	struct verdict verdict;

	for (unsigned i = 0; i < 3; i++) {
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
		f.now += 10 * SECOND;
	}
	check_verdict(1, VERDICT_NOT, VERDICT_FEW,
		      "no more than 3 at a time; too few yet: watch at least "
		      "4 min 10 s");
	for (unsigned i = 3; i < 10; i++) {
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
		f.now += 10 * SECOND;
	}
	verdict = judge(1);
	ck_assert_int_eq(verdict.level, VERDICT_LIKELY);
	verdict_explain(&verdict, site_of(&f, 1, NULL), &text);
	ck_assert_ptr_null(strstr(strbuf_text(&text), ": 0 blocks"));
	strbuf_fini(&text);
}
END_TEST

/* What runs for the first time keeps a few blocks; descriptors are opened on
   purpose. */
START_TEST(few_that_stay)
{
	for (unsigned i = 0; i < 7; i++) {
		f.stack = 1;
		acquire(&f, "malloc", 0x1000 + i * 16, 4);
		f.stack = 2;
		acquire(&f, "open", 3 + i, 0);
		f.now += 10 * SECOND;
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_NEVER_FREED, NULL);
	ck_assert_uint_gt(judge(1).enough, 70 * SECOND);
	check_verdict(2, VERDICT_LIKELY, VERDICT_NEVER_FREED, NULL);
}
END_TEST

/* Of one size each time, until one stays: that is none made larger. */
START_TEST(one_block_again)
{
	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		if (i >= 30)
			continue;
		acquire(&f, "malloc", 0x1000, 192);
		if (i < 29)
			release(&f, "free", 0x1000, 0);
	}
	check_verdict(1, VERDICT_NOT, VERDICT_FEW, NULL);
}
END_TEST

/* ---- of several stacks ---- */

/* Of that call in one function, which others have called. */
static stack_id stack_of(struct stacks *stacks, uint64_t call, uint64_t outer)
{
	const struct code *code = stacks_code(stacks, NULL, "program", 1);
	const struct frame frames[] = { { code, call, FRAME_ENTRY },
					{ code, outer, FRAME_CFI } };

	return stacks_intern(stacks, frames, 2, STACK_COMPLETE);
}

static struct stacks *begin_with_stacks(struct namer *namer, uint64_t sample)
{
	struct stacks *stacks = stacks_new();
	struct heap_options options = { .complete = true,
					.stacks = stacks,
					.namer = namer,
					.sample = sample };

	fixture_fini(&f);
	fixture_init(&f, &options);
	return stacks;
}

/* So many of each ten come by one of a few stacks, the others by one of their
   own. */
static void leak_by_stacks(struct stacks *stacks, unsigned again,
			   enum heap_sampling sampling)
{
	for (unsigned i = 0; i < 300; i++) {
		const uint64_t outer = i % 10 < again ? i / 10 % 15 : 100 + i;
		struct heap_act act;

		f.stack = stack_of(stacks, 5, outer * 10 + i % 10);
		act = fixture_act(&f, "malloc");
		act.handle = 0x10000 + i * 16;
		act.size = 4;
		act.sampling = sampling;
		heap_act(f.heap, &act);
		f.now += SECOND / 5;
	}
}

/* What is said of that one when all have been looked at. */
static struct verdict judge_all(stack_id stack)
{
	struct survey *survey = survey_new(f.heap, f.now, 0);
	struct verdicts *verdicts = verdicts_of(f.heap, survey);
	struct verdict verdict =
		*verdicts_site(verdicts, site_of(&f, stack, NULL));

	verdicts_free(verdicts);
	survey_free(survey);
	return verdict;
}

/* Of what calls itself, most blocks come by a stack of their own: so do those of
   code that runs for the first time. */
START_TEST(mostly_by_new_stacks)
{
	struct stacks *stacks = begin_with_stacks(NULL, 0);
	struct verdict verdict;

	leak_by_stacks(stacks, _i, 0);
	verdict = judge_all(f.stack);
	ck_assert_int_eq(judge(f.stack).level, VERDICT_NOT);
	ck_assert_int_eq(verdict.level,
			 _i >= 5 ? VERDICT_LIKELY : VERDICT_POSSIBLE);
	ck_assert_int_eq(verdict.reason, VERDICT_TOGETHER);
	ck_assert_uint_eq(verdict.together_blocks, 300);
	stacks_free(stacks);
}
END_TEST

/* A sample stands for many blocks, none of which need have come by its stack. */
START_TEST(samples_by_new_stacks)
{
	struct stacks *stacks = begin_with_stacks(NULL, 1 << 16);

	leak_by_stacks(stacks, _i, SAMPLING_KEPT);
	ck_assert_uint_gt(site_of(&f, f.stack, NULL)->alloc_blocks, 1);
	ck_assert_int_eq(judge_all(f.stack).level,
			 _i >= 5 ? VERDICT_LIKELY : VERDICT_POSSIBLE);
	stacks_free(stacks);
}
END_TEST

/* What node makes for an object of JavaScript asks for it, or a neighbour. */
static stack_id stack_of_owner(struct stacks *stacks, struct namer *namer,
			       uint64_t address, const char *owner)
{
	const stack_id stack = stack_of(stacks, address, 1);
	struct frame_name *name = xcalloc(1, sizeof(*name));
	struct frame frames[2];

	ck_assert_uint_eq(stacks_frames(stacks, stack, frames, 2), 2);
	name->function = xstrdup(owner);
	name->linkage = xstrdup(owner);
	name->library = "program";
	ck_assert(namer_teach(namer, &frames[0], name, 1));
	return stack;
}

static void leak(const char *function, unsigned blocks)
{
	for (unsigned i = 0; i < blocks; i++) {
		struct heap_act act = fixture_act(&f, function);

		act.handle = f.now / SECOND * 16;
		act.size = 4;
		act.sampling = SAMPLING_KEPT;
		heap_act(f.heap, &act);
		f.now += SECOND;
	}
}

/* The survey is of a time when none was held: nothing is known of those that are. */
START_TEST(none_was_seen)
{
	struct namer *namer = namer_new(&(struct namer_options){ 0 });
	struct stacks *stacks = begin_with_stacks(namer, 1 << 16);
	const stack_id owner =
		stack_of_owner(stacks, namer, 2, "_ZN4node10BaseObject3newEv");
	struct survey *survey;
	struct verdict verdict;

	f.stack = owner;
	acquire(&f, "malloc", 0x10, 1 << 20);
	f.stack = stack_of(stacks, 1, 1);
	acquire(&f, "malloc", 0x10, 1 << 20);
	survey = survey_new(f.heap, f.now + 60 * SECOND, 0);
	f.stack = owner;
	leak("malloc", 59);
	verdict = verdict_of(f.heap, site_of(&f, owner, NULL), survey);
	ck_assert_int_eq(verdict.reason, VERDICT_NEVER_FREED);
	ck_assert_uint_eq(verdict.enough, 0);
	survey_free(survey);
	namer_free(namer);
	stacks_free(stacks);
}
END_TEST

/* Memory goes with JavaScript's objects, descriptors don't. */
START_TEST(what_javascript_owns)
{
	struct namer *namer = namer_new(&(struct namer_options){ 0 });
	struct stacks *stacks = begin_with_stacks(namer, 0);

	f.stack = stack_of_owner(stacks, namer, 2,
				 _i ? "_ZN4node10BaseObject3newEv" : "main");
	for (unsigned i = 0; i < 12; i++) {
		leak("malloc", 1);
		leak("open", 1);
	}
	for (size_t n = 1; n <= heap_site_count(f.heap); n++) {
		const struct site *site = heap_site(f.heap, n);
		struct survey *survey = survey_new(f.heap, f.now, 0);
		const struct verdict verdict = verdict_of(f.heap, site, survey);
		const bool owned = _i && site->function->family->has_size;

		ck_assert_int_eq(verdict.level,
				 owned ? VERDICT_POSSIBLE : VERDICT_LIKELY);
		ck_assert_int_eq(verdict.reason, VERDICT_NEVER_FREED);
		survey_free(survey);
	}
	namer_free(namer);
	stacks_free(stacks);
}
END_TEST

/* However many there are. */
START_TEST(what_is_collected)
{
	begin_anew();
	for (unsigned i = 0; i < 60; i++) {
		f.now += SECOND;
		f.stack = 1;
		acquire(&f, "new_object", 0x1000 + i * 16, 40);
		f.stack = 2;
		if (i % 10 == 0)
			acquire(&f, "new_object", 0x2000 + i * 16, 40);
	}
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_COLLECTED,
		      "60 objects more, but a collector gives them back in its "
		      "own time");
	check_verdict(2, VERDICT_POSSIBLE, VERDICT_COLLECTED,
		      "6 objects more, but a collector gives them back in its "
		      "own time");
	/* It was idle. */
	f.now += 60 * SECOND;
	check_verdict(1, VERDICT_POSSIBLE, VERDICT_COLLECTED, NULL);
}
END_TEST

static Suite *verdict_suite(void)
{
	Suite *suite = suite_create("verdict");
	TCase *tcase = tcase_create("verdict");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, trend_by_hand);
	tcase_add_test(tcase, trend_of_noise);
	tcase_add_test(tcase, trend_is_of_the_middle);
	tcase_add_test(tcase, trend_of_nothing);
	tcase_add_test(tcase, never_freed_and_taken_back);
	tcase_add_test(tcase, switched_off);
	tcase_add_loop_test(tcase, stood_still, 1, 9);
	tcase_add_test(tcase, slept);
	tcase_add_test(tcase, stood_still_and_full);
	tcase_add_test(tcase, starves);
	tcase_add_test(tcase, slows_and_starves);
	tcase_add_test(tcase, is_still_stopped);
	tcase_add_test(tcase, some_are_forgotten);
	tcase_add_test(tcase, no_more_are_old_than_there_are);
	tcase_add_test(tcase, a_few_stay_in_a_short_time);
	tcase_add_test(tcase, rows_of_many_stacks_are_small);
	tcase_add_test(tcase, waits_for_a_collector);
	tcase_add_test(tcase, garbage_in_seven);
	tcase_add_test(tcase, leaks_beside_young_garbage);
	tcase_add_test(tcase, few_are_as_many);
	tcase_add_test(tcase, a_few_stay_while_fewer_come);
	tcase_add_test(tcase, kept);
	tcase_add_test(tcase, turnover);
	tcase_add_test(tcase, one_block_made_larger);
	tcase_add_test(tcase, one_block_made_larger_in_few_steps);
	tcase_add_test(tcase, one_block_made_larger_as_another_was);
	tcase_add_test(tcase, one_block_made_larger_ever_more_rarely);
	tcase_add_test(tcase, blocks_made_in_steps);
	tcase_add_test(tcase, no_haste);
	tcase_add_test(tcase, growth_and_forecast);
	tcase_add_test(tcase, room_and_end);
	tcase_add_test(tcase, silence_without_a_trend);
	tcase_add_test(tcase, durations);
	tcase_add_test(tcase, fewer_and_fewer);
	tcase_add_test(tcase, traffic_falls);
	tcase_add_test(tcase, work_goes_on);
	tcase_add_test(tcase, turnover_longer_than_watched);
	tcase_add_test(tcase, resized_of_before);
	tcase_add_test(tcase, share_that_is_leaked);
	tcase_add_test(tcase, block_that_doubles);
	tcase_add_loop_test(tcase, block_that_doubled, 0, 2);
	tcase_add_test(tcase, too_few_yet);
	tcase_add_test(tcase, few_that_stay);
	tcase_add_test(tcase, one_block_again);
	tcase_add_loop_test(tcase, mostly_by_new_stacks, 2, 9);
	tcase_add_loop_test(tcase, samples_by_new_stacks, 2, 9);
	tcase_add_test(tcase, none_was_seen);
	tcase_add_loop_test(tcase, what_javascript_owns, 0, 2);
	tcase_add_test(tcase, what_is_collected);
	tcase_add_test(tcase, unreachable);
	tcase_add_test(tcase, under_way);
	tcase_add_test(tcase, reached);
	tcase_add_test(tcase, lost_blocks_come_first);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(verdict_suite());
}
