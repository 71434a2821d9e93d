/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/figures.h"
#include "replay/planner.h"
#include "replay/times.h"
#include "tests/plan_check.h"

/* ---- times ---- */

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_near(uint64_t found, uint64_t wanted)
{
	ck_assert_uint_ge(found + wanted / 16, wanted);
	ck_assert_uint_le(found, wanted + wanted / 16);
}

START_TEST(test_times)
{
	static uint64_t all[20000];
	struct call_times *times = calloc(2, sizeof(*times));
	uint64_t state = 1, total = 0;
	struct replay_times sum;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		state = state * UINT64_C(6364136223846793005) + 1;
		all[i] = (state >> 33) >> (state >> 59);
		total += all[i];
		call_times_add(&times[i % 2], all[i]);
	}
	call_times_merge(&times[0], &times[1]);
	sum = call_times_sum(&times[0]);
	qsort(all, ARRAY_SIZE(all), sizeof(*all), compare);
	ck_assert_uint_eq(sum.count, ARRAY_SIZE(all));
	ck_assert_uint_eq(sum.total, total);
	ck_assert_uint_eq(sum.max, all[ARRAY_SIZE(all) - 1]);
	check_near(sum.half, all[ARRAY_SIZE(all) / 2 - 1]);
	check_near(sum.most, all[ARRAY_SIZE(all) / 100 * 99 - 1]);
	call_times_add(&times[1], UINT64_MAX);
	ck_assert_uint_eq(call_times_sum(&times[1]).max, UINT64_MAX);
	free(times);
}
END_TEST

START_TEST(test_spread)
{
	struct spread three = spread_of((double[]){ 5, 1, 2 }, 3);
	struct spread two = spread_of((double[]){ 4, 1 }, 2);

	ck_assert_double_eq(three.median, 2);
	ck_assert_double_eq(three.least, 1);
	ck_assert_double_eq(three.most, 5);
	ck_assert_double_eq(two.median, 2.5);
}
END_TEST

/* ---- plans ---- */

static struct families *families;
static struct planner *planner;
static struct watched process = { .pid = 1 };
static const struct replay_plan *plan;
static struct plan_counts counts;
static const struct plan_manner manner = { .touch = true };

static void setup(void)
{
	static const char text[] = "family malloc counts bytes\n"
				   "acquire malloc(size) = handle\n"
				   "acquire memalign(_, size) = handle\n"
				   "resize realloc(old, size) = handle\n"
				   "release free(handle)\n";

	families = families_new();
	families_parse(families, "text", text, strlen(text));
	planner = planner_new();
	plan = NULL;
}

static void teardown(void)
{
	if (plan)
		munmap((void *)plan, plan->size);
	planner_free(planner);
	families_free(families);
}

static struct observed_act act_of(pid_t tid, const char *function,
				  struct heap_act *act)
{
	act->function = families_find(families, function);
	ck_assert_ptr_nonnull(act->function);
	act->tid = tid;
	return (struct observed_act){ .process = &process, .act = act };
}

#define TAKEN(tid, name, ...)                  \
	planner_observer(planner)->ops->taken( \
		planner_observer(planner),     \
		(struct observed_act[]){       \
			act_of(tid, name,      \
			       &(struct heap_act){ __VA_ARGS__ }) })

static void end(uint64_t token, struct observed_act told, bool abandoned)
{
	struct act_observer *observer = planner_observer(planner);

	told.token = token;
	if (abandoned)
		observer->ops->abandoned(observer, &told);
	else
		observer->ops->ended(observer, &told);
}

#define ENDED(token, tid, name, ...) \
	end(token, act_of(tid, name, &(struct heap_act){ __VA_ARGS__ }), false)
#define ABANDONED(token, tid, name, ...) \
	end(token, act_of(tid, name, &(struct heap_act){ __VA_ARGS__ }), true)

static void take(uint64_t threads)
{
	int fd;

	ck_assert_int_eq(planner_take(planner, &manner, &fd, &counts), 0);
	plan = mmap(NULL, sizeof(*plan), PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(plan, MAP_FAILED);
	plan = mmap(NULL, plan->size, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(plan, MAP_FAILED);
	close(fd);
	ck_assert_uint_eq(plan->threads, threads);
}

/* "m1 r2<1 f2? S1 J1": ?: it is another thread's. */
static void check_thread(uint64_t number, const char *wanted)
{
	const struct replay_thread *thread = &replay_plan_threads(plan)[number];
	struct strbuf found = { 0 };

	for (uint64_t i = 0; i < thread->count; i++) {
		const struct replay_op *op =
			&replay_plan_ops(plan)[thread->first + i];

		strbuf_printf(&found, "%s%c%u", i ? " " : "",
			      "mcarfSJ"[op->kind], op -> block);
		if (op->kind == REPLAY_REALLOC)
			strbuf_printf(&found, "<%u", op->old);
		strbuf_puts(&found, op->waits ? "?" : "");
	}
	ck_assert_str_eq(strbuf_text(&found), wanted);
	strbuf_fini(&found);
}

START_TEST(test_threads)
{
	uint64_t token;

	ENDED(0, 1, "malloc", .handle = 0x10, .size = 5);
	ENDED(0, 2, "malloc", .handle = 0x20, .size = 7);
	TAKEN(2, "free", .handle = 0x10);
	token = TAKEN(3, "realloc", .old = 0x20, .size = 9);
	/* Its old block is another's before it returns. */
	ENDED(0, 2, "malloc", .handle = 0x20, .size = 1);
	ENDED(token, 3, "realloc", .old = 0x20, .handle = 0x30, .size = 9);
	TAKEN(4, "free", .handle = 0x30);
	TAKEN(4, "free", .handle = 0x99);
	TAKEN(4, "free", .handle = 0);
	take(4);
	/* The resize counts from its entry on: its thread ends first. */
	check_thread(0, "m1 S1 S2 J2 J1 S3");
	check_thread(1, "m2 f1? m3");
	check_thread(2, "r4<2?");
	check_thread(3, "f4? f0");
	ck_assert_uint_eq(counts.skipped, 1);
	ck_assert_uint_eq(counts.handed, 3);
	ck_assert_uint_eq(counts.operations, 7);
	ck_assert_uint_eq(counts.peak, 12);
	ck_assert_uint_eq(counts.final, 1);
}
END_TEST

START_TEST(test_what_fails)
{
	uint64_t token;

	ENDED(0, 1, "malloc", .handle = 0, .size = 5, .failed = true);
	ENDED(0, 1, "malloc", .handle = 0x10, .size = 5);
	token = TAKEN(1, "realloc", .old = 0x10, .size = 9);
	ENDED(token, 1, "realloc", .old = 0x10, .size = 9, .failed = true);
	token = TAKEN(1, "free", .handle = 0x10);
	ABANDONED(token, 1, "free", .handle = 0x10);
	token = TAKEN(1, "realloc", .old = 0x10, .size = 0);
	ENDED(token, 1, "realloc", .old = 0x10, .size = 0, .failed = true);
	token = TAKEN(1, "realloc", .old = 0x77, .size = 3);
	ENDED(token, 1, "realloc", .old = 0x77, .handle = 0x40, .size = 3);
	/* Its release wasn't seen. */
	ENDED(0, 1, "malloc", .handle = 0x40, .size = 4);
	take(1);
	check_thread(0, "m1 f1 r2<0 f2 m3");
	ck_assert_uint_eq(counts.failed, 2);
	ck_assert_uint_eq(counts.adopted, 1);
	ck_assert_uint_eq(counts.unseen, 1);
	ck_assert_uint_eq(counts.final, 4);
}
END_TEST

START_TEST(test_alignments)
{
	ENDED(0, 1, "memalign", .handle = 0x11000, .size = 5, .stack = 1);
	ENDED(0, 1, "memalign", .handle = 0x10040, .size = 5, .stack = 2);
	ENDED(0, 1, "memalign", .handle = 0x12100, .size = 5, .stack = 1);
	ENDED(0, 1, "memalign", .handle = 0x20000, .size = 5, .stack = 3);
	ENDED(0, 1, "memalign", .handle = 0x30001, .size = 5, .stack = 4);
	take(1);
	ck_assert(plan->has_aligned);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(replay_plan_ops(plan)[i].alignment,
				  ((unsigned[]){ 256, 64, 256, 4096,
						 sizeof(void *) })[i]);
}
END_TEST

/* The recording ends inside of a resize: what there was is held. */
START_TEST(test_unfinished)
{
	ENDED(0, 1, "malloc", .handle = 0x10, .size = 5);
	TAKEN(1, "realloc", .old = 0x10, .size = 9);
	take(1);
	check_thread(0, "m1");
	ck_assert_uint_eq(counts.failed, 1);
	ck_assert_uint_eq(counts.final, 5);
	ck_assert_ptr_null(plan_check(plan));
}
END_TEST

static uint64_t state;

static unsigned pick(unsigned n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % n;
}

static unsigned joins(void)
{
	unsigned count = 0;

	for (uint64_t i = 0; i < plan->ops; i++)
		count += replay_plan_ops(plan)[i].kind == REPLAY_JOIN;
	return count;
}

/* Whatever a process seems to have done: the plan can be carried out. */
START_TEST(test_random)
{
	static const char *const names[] = { "malloc", "free", "memalign",
					     "free", "realloc" };
	uint64_t tokens[10] = { 0 }, old[10] = { 0 };

	state = _i;
	for (unsigned i = 0; i < 2000; i++) {
		const unsigned tid = 1 + pick(9), what = pick(5);
		const uint64_t handle = pick(20) * 16;
		const bool fails = !pick(9);

		if (tokens[tid] && pick(2))
			end(tokens[tid],
			    act_of(tid, "realloc",
				   &(struct heap_act){ .old = old[tid],
						       .handle = handle,
						       .size = 1 + pick(99),
						       .failed = fails }),
			    !pick(9));
		tokens[tid] = 0;
		if (what == 4) {
			old[tid] = pick(20) * 16;
			tokens[tid] = TAKEN(tid, "realloc", .old = old[tid],
					    .size = 7);
		} else if (what & 1) {
			TAKEN(tid, names[what], .handle = handle);
		} else {
			ENDED(0, tid, names[what], .handle = handle,
			      .size = pick(99), .failed = fails);
		}
	}
	take(9);
	ck_assert_ptr_null(plan_check(plan));
	ck_assert_uint_eq(plan->ops, counts.operations + 8 + joins());
}
END_TEST

static void acquire_at(uint64_t time, pid_t tid, uint64_t handle)
{
	struct observed_act told =
		act_of(tid, "malloc",
		       &(struct heap_act){ .handle = handle, .size = 8 });

	told.entered = time;
	end(0, told, false);
}

static uint64_t when(uint64_t thread, uint64_t place)
{
	return replay_plan_ops(
		       plan)[replay_plan_threads(plan)[thread].first + place]
		.when;
}

START_TEST(test_pace)
{
	acquire_at(5000, 1, 0x10);
	acquire_at(5700, 2, 0x20);
	/* It returned later than others that were entered after it. */
	acquire_at(4000, 2, 0x30);
	acquire_at(9000, 1, 0x40);
	take(2);
	ck_assert_uint_eq(when(0, 0), 1000);
	ck_assert_uint_eq(when(0, 1), 1700); /* the start of thread 1 */
	ck_assert_uint_eq(when(0, 2), 5000);
	ck_assert_uint_eq(when(1, 0), 1700);
	ck_assert_uint_eq(when(1, 1), 0);
	ck_assert_uint_eq(counts.span, 5000);
}
END_TEST

START_TEST(test_nothing)
{
	int fd;

	TAKEN(1, "free", .handle = 0x10);
	ck_assert_int_eq(planner_take(planner, &manner, &fd, &counts),
			 -ENODATA);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay_plan");
	TCase *tests = tcase_create("replay_plan");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_times);
	tcase_add_test(tests, test_spread);
	tcase_add_test(tests, test_threads);
	tcase_add_test(tests, test_what_fails);
	tcase_add_test(tests, test_alignments);
	tcase_add_test(tests, test_unfinished);
	tcase_add_loop_test(tests, test_random, 0, 20);
	tcase_add_test(tests, test_pace);
	tcase_add_test(tests, test_nothing);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
