/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "report/format/cost_text.h"
#include "tracee/tracer.h"
#include "unit.h"

#define MS (NS_PER_SECOND / 1000)

/*
 * A thread that had the processor for half of the first 100 ms, and then was
 * stopped a thousand times in a second, at 10 µs each.
 */
static struct task_cost busy_half(void)
{
	return (struct task_cost){
		.since = NS_PER_SECOND,
		.first_stop = NS_PER_SECOND + 100 * MS,
		.ran_before = 50 * MS,
		.turns_before = 100,
		.stops = 1000,
		.scheduled = 1000,
		.still_ns = 600 * MS,
	};
}

static struct thread_cost cost_now(const struct task_cost *given)
{
	struct tracee tracee = { .pid = 77 };
	struct task task = { .tid = 77, .tracee = &tracee, .cost = *given };
	struct tracer tracer = { 0 };
	struct cost cost;

	tracer.price.now.typical = 10000;
	tracer.price.gauge.same.typical = 5000;
	HASH_ADD_INT(tracer.tasks, tid, &task);
	cost_find(&tracer, 0, given->since + 1100 * MS, &cost);
	HASH_CLEAR(hh, tracer.tasks);
	ck_assert_uint_eq(cost.thread_count, 1);
	return cost.threads[0];
}

/* What a stop costs at least is no work of its own. */
static void check_speed(struct task_cost cost, uint64_t ran, double speed)
{
	cost.ran_ns = cost.ran_before + ran + 1000 * 5000;
	ck_assert_double_eq_tol(cost_now(&cost).speed, speed, 0.001);
}

START_TEST(speed)
{
	check_speed(busy_half(), 500 * MS, 1);
	check_speed(busy_half(), 400 * MS, 0.8);
	check_speed(busy_half(), 5 * MS, 0.01);
	check_speed(busy_half(), 0, 0);
	/* More is asked of it now: that is no loss. */
	check_speed(busy_half(), 800 * MS, 1);
}
END_TEST

START_TEST(little_seen_before)
{
	struct task_cost cost = busy_half();

	cost.first_stop = cost.since + 5 * MS;
	check_speed(cost, 400 * MS, -1);
	cost = busy_half();
	cost.first_stop = 0;
	check_speed(cost, 400 * MS, -1);
	/* On a busy machine its turn came twice. */
	cost = busy_half();
	cost.turns_before = 2;
	check_speed(cost, 400 * MS, -1);
	/* It had nothing to do. */
	cost = busy_half();
	cost.ran_before = 2 * MS;
	check_speed(cost, 400 * MS, -1);
	/* Without interruption: that is once. */
	cost = busy_half();
	cost.ran_before = 100 * MS;
	cost.turns_before = 0;
	check_speed(cost, 400 * MS, 0.4);
}
END_TEST

static void check_text(double share, double speed, const char *wanted)
{
	struct cost cost = { .stops = 7, .thread_count = 1 };
	struct strbuf text = { 0 };

	cost.threads[0] = (struct thread_cost){
		.still_ns = share * NS_PER_SECOND,
		.seen_ns = NS_PER_SECOND,
		.speed = speed,
	};
	cost_text_add(&cost, &text);
	ck_assert_str_eq(text.text, wanted);
	strbuf_fini(&text);
}

START_TEST(words)
{
	check_text(0.6, -1,
		   "7 stops; the program stood still for 60 % of the time "
		   "watched, and ran at about 40 % of its speed");
	check_text(0.6, 0.97,
		   "7 stops; the program stood still for 60 % of the time "
		   "watched, and ran at about 97 % of its speed before");
	check_text(0.9, 0.001,
		   "7 stops; the program stood still for 90 % of the time "
		   "watched, and ran at about 10 % of its speed before");
	check_text(0.99, 0.001,
		   "7 stops; the program stood still for 99 % of the time "
		   "watched, and ran at less than 2.0 % of its speed before");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *tcase = tcase_create("cost");

	tcase_add_test(tcase, speed);
	tcase_add_test(tcase, little_seen_before);
	tcase_add_test(tcase, words);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
