/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "cli/detail.h"
#include "cli/overhead.h"
#include "heap/estimates.h"
#include "heap/verdict.h"
#include "report/memory/heap_rates.h"
#include "sysdeps/x86_64/agent/dice.h"

/* All choices are made by fixed seeds: what passes once passes always. */

static unsigned state;

static unsigned pick(unsigned n)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % n;
}

/* ---- one block ---- */

#define DRAWS 100000

static const uint64_t sizes[] = { 0, 1, 16, 100, 511, 4096, 10000, 100000 };

/* A block of that size is taken as often as one of its bytes is marked. */
START_TEST(chance)
{
	const uint64_t mean = 512, size = sizes[_i];
	const double expected = -expm1(-(double)(size ? size : 1) / mean);
	const double deviation = sqrt(DRAWS * expected * (1 - expected));
	struct sampler sampler;
	unsigned taken = 0;

	sampler_init(&sampler, mean, 1);
	for (unsigned i = 0; i < DRAWS; i++)
		taken += sampler_takes(&sampler, size);
	ck_assert_double_le(fabs(taken - DRAWS * expected), 4 * deviation + 1);
}
END_TEST

/* The same by whole numbers alone, as in traced processes. */
START_TEST(chance_by_dice)
{
	const uint64_t mean = 512, size = sizes[_i];
	const double expected = -expm1(-(double)size / mean);
	const double deviation = sqrt(DRAWS * expected * (1 - expected));
	unsigned taken = 0;

	for (uint64_t i = 0; i < DRAWS; i++)
		taken += dice_distance(dice_throw(i * DICE_STEP), mean) < size;
	ck_assert_double_le(fabs(taken - DRAWS * expected), 4 * deviation + 1);
}
END_TEST

static const uint64_t means[] = { 2, 512, 1 << 19, UINT64_C(1) << 40 };

/* Each is what the logarithm says, but for the last bits. */
START_TEST(dice_are_exponential)
{
	const uint64_t mean = means[_i];

	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t random = dice_throw(i * DICE_STEP);
		const double expected = -log(ldexp((double)random, -64)) * mean;

		ck_assert_double_le(fabs(dice_distance(random, mean) -
					 expected),
				    1 + expected * 1e-7 + mean * 1e-8);
	}
	ck_assert_uint_gt(dice_distance(0, mean), 40 * mean);
	ck_assert_uint_eq(dice_distance(UINT64_MAX, 512), 0);
}
END_TEST

/* The weights of those that are taken add up to as many as there were. */
START_TEST(weight)
{
	const uint64_t mean = 512, size = sizes[_i];
	double sum = 0, variance = 0;
	struct sampler sampler;

	sampler_init(&sampler, mean, 2);
	for (uint64_t i = 0; i < DRAWS; i++) {
		struct sample_weight got = sample_weigh(mean, size, i);

		ck_assert_uint_ge(got.count, 1);
		if (!sampler_takes(&sampler, size))
			continue;
		sum += got.count;
		variance += got.variance;
	}
	ck_assert_double_le(fabs(sum - DRAWS), 4 * sqrt(variance) + 1);
	/* Always the same for the same block. */
	ck_assert_uint_eq(sample_weigh(mean, size, 7).count,
			  sample_weigh(mean, size, 7).count);
}
END_TEST

START_TEST(every_one)
{
	struct sampler sampler;

	for (uint64_t mean = 0; mean < 2; mean++) {
		sampler_init(&sampler, mean, 1);
		for (unsigned i = 0; i < 100; i++)
			ck_assert(sampler_takes(&sampler, i));
		ck_assert_uint_eq(sample_weigh(mean, 16, 1).count, 1);
		ck_assert(sample_weigh(mean, 16, 1).variance == 0);
	}
}
END_TEST

/* ---- a program ---- */

#define BLOCKS 600
#define STACKS 3
#define EQUAL  2 /* one where all blocks have the same size */
#define MEAN   2048

static uint64_t size_at(stack_id stack)
{
	switch (stack) {
	case 1:
		return 1 + pick(4000);
	case 2:
		return 64;
	default:
		return 8 << pick(10);
	}
}

/* The same each time; what is kept of it depends on the seed alone. */
static bool changes; /* the rate does, meanwhile */

static void run(struct fixture *f, const struct heap_options *options)
{
	fixture_init(f, options);
	state = 1;
	for (uint64_t i = 0; i < BLOCKS; i++) {
		const uint64_t handle = 0x10000 * (i + 1);

		f->now += SECOND / 100;
		if (changes)
			heap_set_rate(f->heap, i / 32 % 3, f->now);
		f->stack = 1 + i % STACKS;
		if (i % 5 || i < 100)
			acquire(f, "malloc", handle, size_at(f->stack));
		else
			resize(f, "realloc", handle - 0x400000, handle,
			       size_at(f->stack));
		if (i % 3 == 1 && i > 100)
			release(f, "free", handle - 0x500000, 0);
	}
}

struct totals {
	uint64_t numbers[4];
};

static struct totals totals_of(const struct estimates *estimates)
{
	return (struct totals){ { estimates->blocks, estimates->bytes.total,
				  estimates->alloc_blocks,
				  estimates->alloc_bytes.total } };
}

/* Of a stack, whose malloc and realloc are two sites; 0: of all. */
static struct estimates estimates_at(struct fixture *f, stack_id stack)
{
	struct survey *survey = survey_new(f->heap, f->now, 0);
	struct estimates sum = { 0 };

	for (size_t n = 1; n <= heap_site_count(f->heap); n++) {
		const struct site *site = heap_site(f->heap, n);

		if (!stack || site->stack == stack)
			estimates_add_site(&sum, site,
					   survey_site(survey, site));
	}
	survey_free(survey);
	return sum;
}

static struct totals truth_at(stack_id stack)
{
	struct totals truth = { { 0 } };
	struct fixture f;

	run(&f, NULL);
	for (size_t n = 1; n <= heap_site_count(f.heap); n++) {
		const struct site *site = heap_site(f.heap, n);

		if (stack && site->stack != stack)
			continue;
		truth.numbers[0] += site->blocks;
		truth.numbers[1] += site->bytes;
		truth.numbers[2] += site->alloc_blocks;
		truth.numbers[3] += site->alloc_bytes;
	}
	fixture_fini(&f);
	return truth;
}

#define RUNS 1000

/* Of 1,000 runs 950 are expected, with a standard deviation of 7. */
#define INSIDE_LEAST 922
#define INSIDE_MOST  978

START_TEST(intervals_hold_the_truth)
{
	const stack_id stack = _i % (STACKS + 1);
	const struct totals truth = truth_at(stack);
	unsigned inside[4] = { 0 };
	double sum[4] = { 0 }, squares[4] = { 0 };

	changes = _i > STACKS;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct heap_options options = {
			.sample = changes ? MEAN / 2 : MEAN,
			.seed = seed,
			.adapts = changes,
		};
		struct estimates estimates;
		struct estimate_ranges ranges;
		struct fixture f;

		run(&f, &options);
		estimates = estimates_at(&f, stack);
		ranges = estimates_ranges(&estimates);
		for (unsigned i = 0; i < 4; i++) {
			const struct estimate_range *range =
				(const struct estimate_range *[]){
					NULL, &ranges.bytes, NULL,
					&ranges.alloc_bytes
				}[i];
			const double off =
				(double)totals_of(&estimates).numbers[i] -
				(double)truth.numbers[i];

			if (range)
				inside[i] += range->low <= truth.numbers[i] &&
					     truth.numbers[i] <= range->high;
			sum[i] += off;
			squares[i] += off * off;
		}
		fixture_fini(&f);
	}
	changes = false;
	for (unsigned i = 0; i < 4; i++) {
		/* Right in the mean. */
		ck_assert_double_le(fabs(sum[i]), 4 * sqrt(squares[i]));
	}
	for (unsigned i = 1; i < 4; i += 2) {
		ck_assert_uint_ge(inside[i], INSIDE_LEAST);
		ck_assert_uint_le(inside[i], INSIDE_MOST);
	}
}
END_TEST

/* A block stands for what it did when it was acquired, whatever comes later. */
START_TEST(rates_have_their_time)
{
	struct heap_options options = { .sample = 1, .adapts = true };
	struct fixture f;

	fixture_init(&f, &options);
	for (uint64_t i = 1; i <= 10; i++)
		acquire(&f, "malloc", 16 * i, 100);
	f.now += SECOND;
	heap_set_rate(f.heap, 20, f.now);
	f.now += 2 * SECOND;
	ck_assert_uint_eq(heap_sample(f.heap), 1 << 20);
	ck_assert_uint_eq(heap_rate(f.heap, 0, f.now).sample, 1);
	ck_assert_uint_ge(heap_rate(f.heap, 0, f.now).ns, SECOND);
	ck_assert_uint_eq(heap_rate(f.heap, 20, f.now).ns, 2 * SECOND);
	ck_assert_uint_eq(heap_rate(f.heap, 1, f.now).ns, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->blocks, 10);
	for (uint64_t i = 1; i <= 10; i++)
		release(&f, "free", 16 * i, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->blocks, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->freed_bytes, 1000);
	fixture_fini(&f);
}
END_TEST

static const char *rates_text(struct fixture *f, struct strbuf *text)
{
	strbuf_clear(text);
	heap_rates_add(f->heap, f->now, text);
	return strbuf_text(text);
}

/* One that has just begun was held for no time yet. */
START_TEST(rates_are_told)
{
	struct heap_options options = { .sample = 2048, .adapts = true };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct fixture f;

	fixture_init(&f, &options);
	ck_assert_str_eq(rates_text(&f, &text), "one block in 2,048 bytes");
	/* By a clock that was looked at before. */
	heap_set_rate(f.heap, 3, f.now - 1);
	ck_assert_uint_eq(heap_rate(f.heap, 0, f.now).ns, 0);
	heap_set_rate(f.heap, 1, f.now);
	f.now += SECOND;
	heap_set_rate(f.heap, 9, f.now);
	ck_assert_str_eq(rates_text(&f, &text), "one block in 4,096 bytes");
	f.now += SECOND;
	ck_assert_str_eq(rates_text(&f, &text),
			 "one block in 4.0 KiB for 1 s, 1.0 MiB for 1 s");
	fixture_fini(&f);
}
END_TEST

/* Of 100 ms of a program's time, what was kept took so many tenths. */
static unsigned rate_after(struct overhead *overhead, unsigned tenths)
{
	struct overhead_sums sums = overhead->then;

	sums.used_ns += (1000 + tenths) * (SECOND / 10000);
	sums.cost_ns += tenths * (SECOND / 10000);
	overhead_look(overhead, &sums);
	return overhead->rate;
}

START_TEST(price_decides_the_rate)
{
	struct overhead overhead = {
		.most = 0.02,
		.rate = 10,
		.rates = 16,
		.room = 1000,
	};
	struct overhead_sums sums;

	ck_assert_uint_eq(rate_after(&overhead, 20), 10);
	ck_assert_uint_eq(rate_after(&overhead, 6), 10);
	ck_assert_uint_eq(rate_after(&overhead, 4), 9);
	ck_assert_uint_eq(rate_after(&overhead, 1), 7);
	ck_assert_uint_eq(rate_after(&overhead, 70), 9);
	ck_assert_uint_eq(rate_after(&overhead, 5000), 12);
	ck_assert_uint_eq(rate_after(&overhead, 5000), 15);
	ck_assert_uint_eq(rate_after(&overhead, 5000), 15);
	/* Hardly any time, less than before: nothing is known. */
	sums = overhead.then;
	sums.used_ns += SECOND / 1000;
	ck_assert(!overhead_look(&overhead, &sums));
	ck_assert(!overhead_look(&overhead, &(struct overhead_sums){ 0 }));
	for (unsigned i = 0; i < 100; i++)
		rate_after(&overhead, 0);
	ck_assert_uint_eq(overhead.rate, 0);
	/* There is little room for more. */
	sums = overhead.then;
	sums.used_ns += SECOND;
	sums.held = 501;
	ck_assert(overhead_look(&overhead, &sums));
	ck_assert_uint_eq(overhead.rate, 1);
	sums.used_ns += SECOND;
	sums.held = 300;
	ck_assert(!overhead_look(&overhead, &sums));
	ck_assert_uint_eq(overhead.rate, 1);
	/* They stay: that it was raised once is enough until there are more. */
	for (sums.held = 501; sums.used_ns < 100 * SECOND;
	     sums.used_ns += SECOND)
		overhead_look(&overhead, &sums);
	ck_assert_uint_eq(overhead.rate, 1);
	sums.held = 600;
	ck_assert(overhead_look(&overhead, &sums));
	ck_assert_uint_eq(overhead.rate, 2);
}
END_TEST

/* The same of what is left out of calls in a log. */
static enum detail_level level_after(struct detail *detail, unsigned tenths,
				     unsigned times)
{
	while (times--) {
		struct detail_sums sums = detail->then;

		sums.used_ns += (1000 + tenths) * (SECOND / 10000);
		sums.spent_ns += tenths * (SECOND / 10000);
		sums.measured += 32;
		detail_look(detail, &sums);
	}
	return detail->level;
}

START_TEST(price_decides_what_is_left_out)
{
	struct detail detail = { .most = 0.02, .least = DETAIL_NO_STACKS };

	ck_assert_uint_eq(level_after(&detail, 20, 100), DETAIL_ALL);
	ck_assert_uint_eq(level_after(&detail, 21, 1), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 19, 100), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 21, 1), DETAIL_NO_STACKS);
	ck_assert_uint_eq(level_after(&detail, 5000, 9), DETAIL_NO_STACKS);
	ck_assert_uint_eq(level_after(&detail, 4, 15), DETAIL_NO_STACKS);
	ck_assert_uint_eq(level_after(&detail, 6, 1), DETAIL_NO_STACKS);
	ck_assert_uint_eq(level_after(&detail, 4, 15), DETAIL_NO_STACKS);
	ck_assert_uint_eq(level_after(&detail, 4, 1), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 4, 16), DETAIL_ALL);
	/* That was too soon: twice as long. */
	ck_assert_uint_eq(level_after(&detail, 21, 1), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 4, 31), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 4, 1), DETAIL_ALL);
	/* … but not for ever. */
	ck_assert_uint_eq(level_after(&detail, 0, 1100), DETAIL_ALL);
	detail.came_back = false;
	ck_assert_uint_eq(level_after(&detail, 21, 1), DETAIL_NO_TEXTS);
	ck_assert_uint_eq(level_after(&detail, 4, 16), DETAIL_ALL);
	/* Who asks for no stacks has none to leave out. */
	detail.least = DETAIL_NO_TEXTS;
	ck_assert_uint_eq(level_after(&detail, 5000, 9), DETAIL_NO_TEXTS);
}
END_TEST

START_TEST(of_little_nothing_is_said)
{
	struct detail detail = { .most = 0.02, .least = DETAIL_NO_STACKS };

	level_after(&detail, 1, 10);
	/* Hardly any time; few calls that were measured; less than before. */
	for (unsigned i = 0; i < 3; i++) {
		struct detail_sums sums = detail.then;

		sums.used_ns += i ? SECOND / 2 : SECOND / 1000;
		sums.spent_ns += SECOND / 2000;
		sums.measured += i ? 31 : 100;
		if (i == 2)
			sums.used_ns = 0;
		ck_assert(!detail_look(&detail, &sums));
	}
	ck_assert_uint_eq(detail.level, DETAIL_ALL);
	ck_assert_uint_eq(detail.at_ns[DETAIL_ALL], detail.own_ns);
	/* Few calls in much time are enough. */
	detail.then = (struct detail_sums){ 0 };
	ck_assert(detail_look(&detail,
			      &(struct detail_sums){ .used_ns = 2 * SECOND,
						     .spent_ns = SECOND / 10,
						     .measured = 3 }));
}
END_TEST

/* What isn't kept is given back, too, and no harm in that. */
START_TEST(unkept_ones_come_and_go)
{
	struct heap_options options = { .sample = MEAN, .complete = true };
	const struct heap_total *total;
	struct fixture f;

	for (options.seed = 1; options.seed <= 20; options.seed++) {
		run(&f, &options);
		/* One address, again and again: free() of it is right. */
		for (unsigned i = 0; i < 1000; i++) {
			acquire(&f, "malloc", 0x10, 1000);
			release(&f, "free", 0x10, 0);
		}
		total = total_of(&f, "malloc");
		ck_assert_uint_eq(total->double_frees, 0);
		ck_assert_uint_eq(total->doubtful_frees, 0);
		ck_assert_uint_eq(total->invalid_frees, 0);
		ck_assert_uint_eq(total->unknown_frees, 0);
		ck_assert_uint_eq(total->unknown_resizes, 0);
		ck_assert_uint_eq(total->reused, 0);
		ck_assert_uint_eq(total->alloc_blocks,
				  total->blocks + total->freed_blocks);
		ck_assert_uint_eq(total->alloc_bytes,
				  total->bytes + total->freed_bytes);
		/* Everything is given back: nothing is left over. */
		for (uint64_t i = 0; i < BLOCKS; i++)
			release(&f, "free", 0x10000 * (i + 1), 0);
		ck_assert_uint_eq(total->blocks, 0);
		ck_assert_uint_eq(total->bytes, 0);
		fixture_fini(&f);
	}
}
END_TEST

/* What was chosen elsewhere isn't chosen again. */
START_TEST(chosen_elsewhere)
{
	struct heap_options options = { .sample = 1 << 20, .seed = 1 };
	struct heap_act act;
	struct fixture f;

	fixture_init(&f, &options);
	for (unsigned i = 1; i <= 100; i++) {
		act = fixture_act(&f, "malloc");
		act.handle = 16 * i;
		act.size = 8;
		act.sampling = i % 2 ? SAMPLING_KEPT : SAMPLING_LEFT;
		heap_act(f.heap, &act);
	}
	ck_assert_uint_eq(site_of(&f, 1, NULL)->samples, 50);
	/* A realloc() that failed has given nothing back. */
	act = fixture_act(&f, "realloc");
	act.old = 16;
	act.size = 1 << 30;
	act.failed = true;
	act.sampling = SAMPLING_LEFT;
	heap_act(f.heap, &act);
	ck_assert_uint_eq(total_of(&f, "malloc")->freed_blocks, 0);
	fixture_fini(&f);
}
END_TEST

/* Descriptors and mappings are kept, each of them. */
START_TEST(other_families)
{
	struct heap_options options = { .sample = 1 << 30, .seed = 1 };
	struct fixture f;

	fixture_init(&f, &options);
	for (unsigned i = 1; i <= 100; i++) {
		acquire(&f, "open", i, 0);
		acquire(&f, "mmap", 0x10000 * i, 4096);
	}
	ck_assert_uint_eq(total_of(&f, "close")->blocks, 100);
	ck_assert_uint_eq(total_of(&f, "mmap")->bytes, 100 * 4096);
	ck_assert_uint_eq(site_of(&f, 1, "mmap")->samples, 0);
	fixture_fini(&f);
}
END_TEST

/* ---- verdicts ---- */

static struct verdict judge(struct fixture *f, struct strbuf *why)
{
	struct survey *survey = survey_new(f->heap, f->now, 0);
	const struct site *site = site_of(f, 1, NULL);
	struct verdict verdict = verdict_of(f->heap, site, survey);

	verdict_explain(&verdict, site, why);
	survey_free(survey);
	return verdict;
}

/* Its first samples may come late by chance: what was before is looked at, too. */
START_TEST(verdict_since_the_beginning)
{
	struct heap_options options = { .sample = 1 << 16, .seed = 1 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	struct verdict verdict;
	struct fixture f;

	fixture_init(&f, &options);
	for (uint64_t i = 1; i <= 30; i++) {
		struct heap_act act;

		f.now += SECOND;
		act = fixture_act(&f, "malloc");
		act.handle = 0x10 * i;
		act.size = 56;
		act.sampling = i > 20 && i % 2 ? SAMPLING_KEPT : SAMPLING_LEFT;
		heap_act(f.heap, &act);
	}
	verdict = judge(&f, &why);
	ck_assert_uint_eq(site_of(&f, 1, NULL)->samples, 5);
	ck_assert_uint_ge(verdict.watched, 29 * SECOND);
	/* A second. */
	ck_assert_double_lt(verdict.trend.slope * 1e9 / verdict.interval,
			    verdict.blocks / 30.0 * 2);
	fixture_fini(&f);
}
END_TEST

/* 40 are enough to be sure, whatever they stand for; 2 aren't. */
START_TEST(verdict_by_samples)
{
	struct heap_options options = { .sample = 16000, .complete = true };
	const unsigned blocks = _i ? 40000 : 2500;
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	struct verdict verdict;
	struct fixture f;

	options.seed = 1;
	fixture_init(&f, &options);
	for (uint64_t i = 1; i <= blocks; i++) {
		f.now += 60 * SECOND / blocks;
		acquire(&f, "malloc", 0x10 * i, 16);
	}
	verdict = judge(&f, &why);
	ck_assert_uint_eq(verdict.blocks, site_of(&f, 1, NULL)->blocks);
	ck_assert_ptr_nonnull(strstr(strbuf_text(&why), "estimated from "));
	if (_i) {
		ck_assert_int_eq(verdict.level, VERDICT_LIKELY);
		ck_assert_int_eq(verdict.reason, VERDICT_NEVER_FREED);
		ck_assert_uint_eq(verdict.leaked_blocks, verdict.blocks);
		/* A second: blocks, not samples. */
		ck_assert_double_gt(verdict.trend.slope * 1e9 /
					    verdict.interval,
				    blocks / 60.0 / 2);
	} else {
		ck_assert_uint_ge(verdict.blocks, 1000);
		ck_assert_int_eq(verdict.reason, VERDICT_FEW);
	}
	fixture_fini(&f);
}
END_TEST

/* None of a dozen was given back, which may be chance; it is said how long it
   takes to know. */
START_TEST(verdict_by_a_handful_of_samples)
{
	struct heap_options options = { .sample = 1 << 16, .seed = 1 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	const unsigned samples = _i ? 25 : 12;
	struct verdict verdict;
	struct fixture f;

	fixture_init(&f, &options);
	for (uint64_t i = 1; i <= samples; i++) {
		struct heap_act act;

		f.now += 30 * SECOND / samples;
		act = fixture_act(&f, "malloc");
		act.handle = 0x10 * i;
		act.size = 56;
		act.sampling = SAMPLING_KEPT;
		heap_act(f.heap, &act);
	}
	verdict = judge(&f, &why);
	ck_assert_uint_ge(verdict.blocks, 1000 * samples);
	ck_assert_int_eq(verdict.level, _i ? VERDICT_LIKELY : VERDICT_POSSIBLE);
	ck_assert_int_eq(verdict.reason, VERDICT_NEVER_FREED);
	ck_assert_int_eq(verdict.enough > 0, !_i);
	fixture_fini(&f);
}
END_TEST

static void keep(struct fixture *f, uint64_t handle, unsigned rate)
{
	struct heap_act act = fixture_act(f, "malloc");

	act.handle = handle;
	act.size = 64;
	act.sampling = SAMPLING_KEPT;
	act.rate = rate;
	heap_act(f->heap, &act);
}

#define RISEN 19 /* a block of 64 bytes stands for 8192.5 */

/* So many blocks at each of two stacks, by a rate that wasn't the first. */
static void run_up(struct fixture *f, unsigned blocks)
{
	const struct heap_options options = {
		.sample = 1,
		.seed = 1,
		.adapts = true,
	};

	fixture_init(f, &options);
	for (unsigned i = 0; i < 1000; i++) {
		f->stack = 1 + i % 2;
		keep(f, 0x10, 0);
		f->now += SECOND / 100;
		release(f, "free", 0x10, 0);
	}
	heap_set_rate(f->heap, RISEN, f->now);
	for (unsigned i = 1; i <= blocks; i++) {
		f->now += 30 * SECOND / blocks;
		for (f->stack = 1; f->stack <= 2; f->stack++)
			keep(f, 0x1000 * i + 0x10 * f->stack, RISEN);
	}
	f->now += 5 * SECOND;
}

static struct verdict judge_one(unsigned blocks)
{
	struct survey *survey;
	struct verdict verdict;
	const struct site *site;
	struct fixture f;

	run_up(&f, blocks);
	site = site_of(&f, 1, NULL);
	ck_assert_uint_eq(site->samples, 500 + blocks);
	/* A report of old blocks alone judges by all of them. */
	survey = survey_new(f.heap, f.now, 3600 * SECOND);
	ck_assert_uint_eq(survey_seen(survey, site), blocks);
	verdict = verdict_of(f.heap, site, survey);
	survey_free(survey);
	fixture_fini(&f);
	return verdict;
}

static struct verdict judge_together(unsigned blocks)
{
	const struct site *sites[2];
	struct survey *survey;
	struct verdict verdict;
	struct fixture f;

	run_up(&f, blocks);
	survey = survey_new(f.heap, f.now, 0);
	sites[0] = site_of(&f, 1, NULL);
	sites[1] = site_of(&f, 2, NULL);
	verdict = verdict_together(f.heap, sites, 2, survey);
	survey_free(survey);
	fixture_fini(&f);
	return verdict;
}

/* What has come and gone before at another rate makes no more of three blocks,
   and no less of 40. */
START_TEST(verdict_where_the_rate_rises)
{
	const unsigned blocks = _i ? 40 : 3;
	const struct verdict verdict = judge_one(blocks);

	ck_assert_uint_ge(verdict.blocks, 8192 * blocks);
	ck_assert_uint_ge(verdict.old_blocks, 8192 * blocks);
	ck_assert_int_eq(verdict.level, _i ? VERDICT_LIKELY : VERDICT_POSSIBLE);
	ck_assert_int_eq(verdict.reason,
			 _i ? VERDICT_OLD_AND_MORE : VERDICT_LARGER);
}
END_TEST

/* Of several stacks it is the sum. */
START_TEST(verdict_together_where_the_rate_rises)
{
	const unsigned blocks = _i ? 20 : 1;
	const struct verdict verdict = judge_together(blocks);

	ck_assert_uint_ge(verdict.blocks, 2 * 8192 * blocks);
	ck_assert_int_eq(verdict.level, _i ? VERDICT_LIKELY : VERDICT_NOT);
	ck_assert_int_eq(verdict.reason,
			 _i ? VERDICT_NEVER_FREED : VERDICT_FEW);
}
END_TEST

static Suite *sampling_suite(void)
{
	Suite *suite = suite_create("sampling");
	TCase *tcase = tcase_create("sampling");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, chance, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tcase, chance_by_dice, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tcase, dice_are_exponential, 0, ARRAY_SIZE(means));
	tcase_add_loop_test(tcase, weight, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tcase, every_one);
	/* With rates that change: of all, and where there are many samples. */
	tcase_add_loop_test(tcase, intervals_hold_the_truth, 0, STACKS + 3);
	tcase_add_test(tcase, rates_have_their_time);
	tcase_add_test(tcase, rates_are_told);
	tcase_add_test(tcase, price_decides_the_rate);
	tcase_add_test(tcase, price_decides_what_is_left_out);
	tcase_add_test(tcase, of_little_nothing_is_said);
	tcase_add_test(tcase, unkept_ones_come_and_go);
	tcase_add_test(tcase, chosen_elsewhere);
	tcase_add_test(tcase, other_families);
	tcase_add_test(tcase, verdict_since_the_beginning);
	tcase_add_loop_test(tcase, verdict_by_samples, 0, 2);
	tcase_add_loop_test(tcase, verdict_by_a_handful_of_samples, 0, 2);
	tcase_add_loop_test(tcase, verdict_where_the_rate_rises, 0, 2);
	tcase_add_loop_test(tcase, verdict_together_where_the_rate_rises, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(sampling_suite());
}
