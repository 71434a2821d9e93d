/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "report/log/histogram.h"
#include "unit.h"

#define US     1000ull
#define SECOND 1000000000ull

#define HEAD \
	"% time     seconds  usecs/call     calls    errors  function\n" RULE
#define RULE                                                  \
	"------ ----------- ----------- --------- --------- " \
	"--------------------\n"

static const struct function scan = { .name = "fscanf" };
static const struct function scan_entry = { .name = "fscanf",
					    .library = "libc.so.6",
					    .place = FUNCTION_ENTRY };
static const struct function get = { .name = "getc" };
static const struct function again = { .name = "again" };
static const struct function put = { .name = "_ZN3box3putEi" };
static const struct function evil = { .name = "a\nb" };

static char path[64];
static struct summary_options options;
static struct sink *sink;

static void setup(void)
{
	int fd;

	strcpy(path, "/tmp/test_summary.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	options = (struct summary_options){ .path = path };
}

static void teardown(void)
{
	sinks_free(sink);
	sink = NULL;
	unlink(path);
}

static void start(void)
{
	ck_assert_int_eq(summary_new(&options, &sink), 0);
}

static void expect(const char *expected)
{
	char text[4096];
	FILE *file;

	ck_assert_int_eq(sinks_finish(sink), 0);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(text, expected);
}

static void send(enum event_kind kind, const struct call *call, pid_t tid,
		 uint64_t time)
{
	struct event event = {
		.kind = kind,
		.pid = tid,
		.tid = tid,
		.time = time,
		.call = call,
	};

	ck_assert_int_eq(sinks_event(sink, &event), 0);
}

static struct call called(const struct function *function, uint64_t time)
{
	struct call call = {
		.function = function,
		.pid = 1,
		.tid = 1,
		.time = time,
	};

	send(EVENT_CALL, &call, 1, time);
	return call;
}

static void timed(const struct function *function, uint64_t begin, uint64_t end)
{
	struct call call = called(function, begin);

	send(EVENT_RETURN, &call, 1, end);
}

START_TEST(nothing_called)
{
	start();
	expect(HEAD RULE
	       "100.00    0.000000                     0           total\n");
}
END_TEST

START_TEST(times_that_sum_to_nothing)
{
	start();
	timed(&get, 5 * SECOND, 5 * SECOND);
	timed(&scan, 5 * SECOND, 4 * SECOND);
	expect(HEAD
	       "  0.00    0.000000           0         1           fscanf\n"
	       "  0.00    0.000000           0         1           getc\n" RULE
	       "100.00    0.000000                     2           total\n");
}
END_TEST

/* By traps they have taken less than nothing, as an estimate was too large. */
START_TEST(what_was_counted_stays)
{
	struct call_count count = {
		.function = &get,
		.pid = 1,
		.calls = 2,
		.ns = 3000 * US,
	};

	start();
	timed(&get, 2 * SECOND, SECOND);
	ck_assert_int_eq(sinks_count(sink, &count), 0);
	timed(&scan, SECOND, SECOND + 1000 * US);
	expect(HEAD
	       " 75.00    0.003000        1000         3           getc\n"
	       " 25.00    0.001000        1000         1           fscanf\n" RULE
	       "100.00    0.004000                     4           total\n");
}
END_TEST

START_TEST(what_is_counted_has_the_clock_in_it)
{
	struct call_count count = {
		.function = &get,
		.pid = 1,
		.calls = 1000,
		.ns = 20 * US,
		.blur_ns = 8 * US,
	};

	start();
	ck_assert_int_eq(sinks_count(sink, &count), 0);
	expect(HEAD
	       "100.00    0.000020    0.02±40%      1000           getc\n" RULE
	       "100.00    0.000020                  1000           total\n");
}
END_TEST

static void chosen(const struct function *function, unsigned rate, uint64_t ns,
		   bool failed)
{
	struct call call = {
		.function = function,
		.pid = 1,
		.tid = 1,
		.time = SECOND,
		.chosen = { CALL_KEPT, rate },
	};
	struct event event = {
		.kind = EVENT_CALL,
		.pid = 1,
		.tid = 1,
		.time = SECOND,
		.call = &call,
	};

	ck_assert_int_eq(sinks_event(sink, &event), 0);
	event.kind = EVENT_RETURN;
	event.time = SECOND + ns;
	event.failed = failed;
	ck_assert_int_eq(sinks_event(sink, &event), 0);
}

static void only_counted(const struct function *function, uint64_t calls)
{
	struct call_count count = {
		.function = function,
		.pid = 1,
		.calls = calls,
		.untimed = true,
	};

	ck_assert_int_eq(sinks_count(sink, &count), 0);
}

START_TEST(some_stand_for_all)
{
	unsigned i;

	start();
	for (i = 0; i < 20; i++)
		chosen(&get, 0, 10 * US, false);
	for (i = 0; i < 20; i++)
		chosen(&get, 10, 20 * US, i % 4 == 0);
	only_counted(&get, 40960 - 40);
	send(EVENT_LEAVE, NULL, 1, 2 * SECOND);
	timed(&scan, SECOND, SECOND + 1000 * US);
	/* Nearly all are as those of the second kind. */
	expect(HEAD
	       " 99.88   ~0.818800         ~20     40960    ~10230 getc\n"
	       "  0.12    0.001000        1000         1           fscanf\n" RULE
	       "100.00   ~0.819800                 40961    ~10230 total\n"
	       "~: each call was counted, but only 40 of 40960 were timed, at "
	       "random\n");
}
END_TEST

/* Ten and thirty microseconds by turns: the mean of few is off by chance. */
START_TEST(an_estimate_says_how_far_it_is_off)
{
	unsigned i;

	start();
	for (i = 0; i < 20; i++)
		chosen(&get, 10, i % 2 ? 30 * US : 10 * US, false);
	only_counted(&get, 20500 - 20);
	send(EVENT_LEAVE, NULL, 1, 2 * SECOND);
	expect(HEAD
	       "100.00   ~0.410000     ~20±28%     20500           getc\n" RULE
	       "100.00   ~0.410000                 20500           total\n"
	       "~: each call was counted, but only 20 of 20500 were timed, at "
	       "random\n");
}
END_TEST

START_TEST(a_brief_estimate_is_not_nothing)
{
	unsigned i;

	start();
	for (i = 0; i < 20; i++)
		chosen(&get, 10, i % 2 ? 30 : 10, false);
	only_counted(&get, 20500 - 20);
	send(EVENT_LEAVE, NULL, 1, 2 * SECOND);
	expect(HEAD
	       "100.00   ~0.000410   ~0.02±28%     20500           getc\n" RULE
	       "100.00   ~0.000410                 20500           total\n"
	       "~: each call was counted, but only 20 of 20500 were timed, at "
	       "random\n");
}
END_TEST

/* The last of few stands for as many as all others: nobody knows how many it is one of. */
START_TEST(so_does_one_of_which_few_stand_for_most)
{
	unsigned i;

	start();
	for (i = 0; i < 40; i++)
		chosen(&get, 0, 10 * US, false);
	for (i = 0; i < 16; i++)
		chosen(&get, 2, 100 * US, false);
	only_counted(&get, 112 - 56);
	send(EVENT_LEAVE, NULL, 1, 2 * SECOND);
	expect(HEAD
	       "100.00   ~0.007610     ~68±15%       112           getc\n" RULE
	       "100.00   ~0.007610                   112           total\n"
	       "~: each call was counted, but only 56 of 112 were timed, at "
	       "random\n");
}
END_TEST

static void timed_with_cost(uint64_t ns, struct event_cost cost)
{
	struct call call = called(&scan, SECOND);
	struct event event = {
		.kind = EVENT_RETURN,
		.pid = 1,
		.tid = 1,
		.time = SECOND + ns,
		.call = &call,
		.cost = cost,
	};

	ck_assert_int_eq(sinks_event(sink, &event), 0);
}

START_TEST(what_stops_may_have_waited_is_told)
{
	start();
	timed_with_cost(100 * US, (struct event_cost){ .mean_ns = 50 * US,
						       .resolution_ns = 5 * US,
						       .waits_ns = 20 * US });
	timed_with_cost(100 * US, (struct event_cost){ .mean_ns = 50 * US,
						       .resolution_ns = 5 * US,
						       .waits_ns = 20 * US });
	expect(HEAD
	       "100.00    0.000100      50±50%         2           fscanf\n" RULE
	       "100.00    0.000100                     2           total\n");
}
END_TEST

/* How many have failed is, all the same. */
START_TEST(more_than_there_was_is_not_known)
{
	unsigned i;

	start();
	for (i = 0; i < 20; i++)
		chosen(&get, 0, 10 * US, false);
	for (i = 0; i < 20; i++)
		chosen(&get, 10, 20 * US, i % 4 == 0);
	only_counted(&get, 40960 - 40);
	send(EVENT_LEAVE, NULL, 1, SECOND + SECOND / 10);
	timed(&scan, SECOND, SECOND + 1000 * US);
	expect(HEAD
	       "100.00    0.001000        1000         1           fscanf\n"
	       "     ?           ?           ?     40960    ~10230 getc\n" RULE
	       "100.00   ~0.001000                 40961    ~10230 total\n"
	       "~: each call was counted, but only 40 of 40960 were timed, at "
	       "random\n");
}
END_TEST

START_TEST(nothing_is_estimated_where_all_were_told_of)
{
	start();
	chosen(&get, 0, 10 * US, false);
	chosen(&get, 0, 10 * US, true);
	only_counted(&get, 0);
	expect(HEAD
	       "100.00    0.000020          10         2         1 getc\n" RULE
	       "100.00    0.000020                     2         1 total\n");
}
END_TEST

/* One call of very many that had no processor meanwhile is no time of all. */
START_TEST(chance_alone_is_no_time)
{
	unsigned i;

	start();
	for (i = 0; i < 30; i++)
		chosen(&get, i, i == 29 ? SECOND : 0, false);
	only_counted(&get, 1000000000);
	timed(&scan, SECOND, SECOND + 1000 * US);
	expect(HEAD
	       "100.00    0.001000        1000         1           fscanf\n"
	       "     ?   <1.000000          <1 1000000030           getc\n" RULE
	       "100.00   ~0.001000             1000000031           total\n"
	       "~: each call was counted, but only 30 of 1000000030 were "
	       "timed, at random\n");
}
END_TEST

START_TEST(of_few_nothing_is_known)
{
	unsigned i;

	start();
	timed(&scan, SECOND, SECOND + 1000 * US);
	timed(&get, SECOND, SECOND + SECOND);
	for (i = 0; i < 7; i++)
		chosen(&get, 3, 20 * US, true);
	only_counted(&get, 8);
	expect(HEAD
	       "     ?           ?           ?        16         ? getc\n"
	       "  0.10    0.001000        1000         1           fscanf\n" RULE
	       "100.00   ~1.001000                    17           total\n"
	       "~: each call was counted, but only 8 of 16 were timed, at "
	       "random\n");
}
END_TEST

START_TEST(sorted_by_time_then_name)
{
	int i;

	start();
	timed(&get, SECOND, SECOND + 250000 * US);
	timed(&again, SECOND, SECOND + 250000 * US);
	for (i = 0; i < 3; i++)
		timed(i ? &scan : &scan_entry, SECOND, SECOND + 500000 * US);
	expect(HEAD
	       " 75.00    1.500000      500000         3           fscanf\n"
	       " 12.50    0.250000      250000         1           again\n"
	       " 12.50    0.250000      250000         1           getc\n" RULE
	       "100.00    2.000000                     5           total\n");
}
END_TEST

START_TEST(calls_without_a_return)
{
	struct call first, call;

	start();
	first = called(&scan, SECOND);
	called(&scan, 2 * SECOND);
	call = called(&get, SECOND);
	send(EVENT_ABANDON, &call, 1, 3 * SECOND);
	send(EVENT_RETURN, &first, 1, 4 * SECOND);
	/* The end: the second fscanf has run for three seconds by now. */
	send(EVENT_LEAVE, NULL, 1, 5 * SECOND);
	expect(HEAD
	       " 75.00    6.000000     3000000         2           fscanf\n"
	       " 25.00    2.000000     2000000         1           getc\n" RULE
	       "100.00    8.000000                     3           total\n");
}
END_TEST

START_TEST(coroutines_return_on_any_task)
{
	struct call call;

	start();
	call = called(&again, SECOND);
	send(EVENT_RETURN, &call, 2, 4 * SECOND);
	expect(HEAD
	       "100.00    3.000000     3000000         1           again\n" RULE
	       "100.00    3.000000                     1           total\n");
}
END_TEST

START_TEST(names)
{
	options.demangle = true;
	start();
	timed(&put, SECOND, 2 * SECOND);
	timed(&evil, SECOND, 2 * SECOND);
	expect(HEAD
	       " 50.00    1.000000     1000000         1           a\\012b\n"
	       " 50.00    1.000000     1000000         1           "
	       "box::put(int)\n" RULE
	       "100.00    2.000000                     2           total\n");
}
END_TEST

START_TEST(quantiles)
{
	int i;

	options.quantiles = true;
	start();
	for (i = 1; i <= 100; i++)
		timed(&get, SECOND, SECOND + (i <= 90 ? 2 : i) * US);
	expect("% time     seconds  usecs/call       p50       p99       max"
	       "     calls    errors  function\n"
	       "------ ----------- ----------- --------- --------- ---------"
	       " --------- --------- --------------------\n"
	       "100.00    0.001135          11         2       100       100"
	       "       100           getc\n"
	       "------ ----------- ----------- --------- --------- ---------"
	       " --------- --------- --------------------\n"
	       "100.00    0.001135                                          "
	       "       100           total\n");
}
END_TEST

START_TEST(quantiles_are_near)
{
	struct histogram histogram = { 0 };
	uint64_t number, i;

	ck_assert_uint_eq(histogram_quantile(&histogram, 500), 0);
	for (number = 1; number < 1ull << 62; number += number / 4 + 1) {
		for (i = 0; i < 10; i++)
			histogram_add(&histogram, number);
		/* Hide that it knows the greatest number. */
		histogram_add(&histogram, UINT64_MAX);
		i = histogram_quantile(&histogram, 900);
		/* Never too small: that many calls took no longer. */
		ck_assert_uint_ge(i, number);
		ck_assert_uint_le(i - number, number / 32);
		ck_assert_uint_eq(histogram_quantile(&histogram, 1000) >> 58,
				  63);
		histogram_fini(&histogram);
	}
}
END_TEST

START_TEST(places_that_cannot_be_written)
{
	options.path = "/no/such/place";
	ck_assert_int_eq(summary_new(&options, &sink), -ENOENT);
	options.path = "/dev/full";
	start();
	ck_assert_int_eq(sinks_finish(sink), -ENOSPC);
}
END_TEST

/* A sink that counts, and fails if it is told to. */
struct counter {
	struct sink sink;
	int error;
	int events;
	int finishes;
};

static int count_event(struct sink *s, const struct event *event UNUSED)
{
	struct counter *counter = (struct counter *)s;

	counter->events++;
	return counter->error;
}

static int count_finish(struct sink *s)
{
	struct counter *counter = (struct counter *)s;

	counter->finishes++;
	return counter->error;
}

START_TEST(one_sink_fails_and_the_others_go_on)
{
	static const struct sink_ops ops = { .event = count_event,
					     .finish = count_finish };
	struct counter last = { .sink = { .ops = &ops }, .error = -EIO };
	struct counter middle = { .sink = { .ops = &ops, .next = &last.sink },
				  .error = -ENOSPC };
	struct counter first = { .sink = { .ops = &ops,
					   .next = &middle.sink } };
	struct event event = { .kind = EVENT_LEAVE };

	ck_assert_int_eq(sinks_event(&first.sink, &event), -ENOSPC);
	ck_assert_int_eq(sinks_flush(&first.sink), 0);
	ck_assert_int_eq(sinks_finish(&first.sink), -ENOSPC);
	ck_assert_int_eq(last.events, 1);
	ck_assert_int_eq(last.finishes, 1);
}
END_TEST

static Suite *summary_suite(void)
{
	const TTest *const tests[] = {
		nothing_called,
		times_that_sum_to_nothing,
		what_was_counted_stays,
		what_is_counted_has_the_clock_in_it,
		some_stand_for_all,
		an_estimate_says_how_far_it_is_off,
		a_brief_estimate_is_not_nothing,
		so_does_one_of_which_few_stand_for_most,
		what_stops_may_have_waited_is_told,
		more_than_there_was_is_not_known,
		nothing_is_estimated_where_all_were_told_of,
		chance_alone_is_no_time,
		of_few_nothing_is_known,
		sorted_by_time_then_name,
		calls_without_a_return,
		coroutines_return_on_any_task,
		names,
		quantiles,
		quantiles_are_near,
		places_that_cannot_be_written,
		one_sink_fails_and_the_others_go_on,
	};
	Suite *suite = suite_create("summary");
	TCase *tcase = tcase_create("summary");
	size_t i;

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(summary_suite());
}
