/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/tail_path.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

/*
 * Functions are numbers; the tail call number n of function f has the address
 * 100 * f + n. GOAL runs; a call to NOWHERE leads nobody knows where.
 */
#define GOAL      99
#define NOWHERE   98
#define CALLS_MAX 8

struct function {
	unsigned calls[CALLS_MAX];
	unsigned count;
	bool incomplete, unknown, later;
};

static struct function functions[GOAL + 1];
/* As they are answered. */
static struct debug_tail lists[GOAL + 1][CALLS_MAX];
static struct debug_tails answers[GOAL + 1];
static unsigned asked;

static void setup(void)
{
	memset(functions, 0, sizeof(functions));
	asked = 0;
}

static int tails_of(void *context, uint64_t entry,
		    const struct debug_tails **ret)
{
	const struct function *function = &functions[entry];

	(void)context;
	asked++;
	for (unsigned i = 0; i < function->count; i++)
		lists[entry][i] = (struct debug_tail){
			.address = 100 * entry + i,
			.target = { .kind = DEBUG_TARGET_ADDRESS,
				    .address = function->calls[i] },
		};
	answers[entry] = (struct debug_tails){ !function->incomplete,
					       function->count, lists[entry] };
	*ret = &answers[entry];
	return function->later ? -EAGAIN : function->unknown ? -ENOENT : 0;
}

static enum tail_step step(void *context, const struct debug_target *target,
			   uint64_t *entry_ret)
{
	(void)context;
	*entry_ret = target->address;
	return target->address == GOAL    ? TAIL_ARRIVED :
	       target->address == NOWHERE ? TAIL_UNKNOWN :
					    TAIL_FUNCTION;
}

static void call(unsigned from, unsigned to)
{
	struct function *function = &functions[from];

	function->calls[function->count++] = to;
}

static int find(uint64_t ret[TAIL_PATH_MAX])
{
	const struct tail_map map = { tails_of, step, NULL };

	return tail_path_find(&map, 1, ret);
}

static void check_path(const uint64_t *wanted, int count)
{
	uint64_t found[TAIL_PATH_MAX];

	ck_assert_int_eq(find(found), count);
	for (int i = 0; i < count; i++)
		ck_assert_uint_eq(found[i], wanted[i]);
}

#define CHECK_PATH(...)                                        \
	check_path((const uint64_t[]){ __VA_ARGS__ },          \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) / \
			   sizeof(uint64_t))

START_TEST(the_only_way)
{
	call(1, 2);
	call(2, 3);
	call(3, GOAL);
	CHECK_PATH(100, 200, 300);
}
END_TEST

START_TEST(ways_that_end_elsewhere_do_not_matter)
{
	call(1, 5);
	call(1, 2);
	call(2, 6);
	call(2, GOAL);
	call(5, 6);
	CHECK_PATH(101, 201);
}
END_TEST

START_TEST(no_way)
{
	call(1, 2);
	call(2, 3);
	check_path(NULL, 0);
}
END_TEST

START_TEST(two_ways_have_nothing_in_common)
{
	call(1, 2);
	call(1, 3);
	call(2, GOAL);
	call(3, GOAL);
	check_path(NULL, 0);
}
END_TEST

START_TEST(two_jumps_to_the_same_function)
{
	call(1, GOAL);
	call(1, GOAL);
	check_path(NULL, 0);
}
END_TEST

/* 1 → 2 → (3 | 4) → 5 → goal */
static void part_and_join(void)
{
	call(1, 2);
	call(2, 3);
	call(2, 4);
	call(3, 5);
	call(4, 5);
	call(5, GOAL);
}

START_TEST(what_several_ways_have_in_common_at_their_ends)
{
	part_and_join();
	CHECK_PATH(100, 500);
}
END_TEST

START_TEST(a_way_that_may_lead_anywhere_takes_the_far_end)
{
	part_and_join();
	call(4, NOWHERE);
	CHECK_PATH(100);
	call(1, NOWHERE);
	check_path(NULL, 0);
}
END_TEST

START_TEST(a_way_that_leads_nobody_knows_where_proves_nothing)
{
	call(1, 2);
	call(2, NOWHERE);
	check_path(NULL, 0);
}
END_TEST

START_TEST(functions_whose_tail_calls_are_not_all_known)
{
	call(1, 2);
	call(2, 3);
	call(3, GOAL);
	call(2, 4);
	functions[4].incomplete = true;
	CHECK_PATH(100);
	functions[4].incomplete = false;
	functions[4].unknown = true;
	CHECK_PATH(100);
	functions[1].incomplete = true;
	check_path(NULL, 0);
}
END_TEST

START_TEST(loops_are_passed_by)
{
	call(1, 2);
	call(2, 1);
	call(2, 2);
	call(2, 3);
	call(3, 1);
	call(3, GOAL);
	CHECK_PATH(100, 202, 301);
}
END_TEST

START_TEST(what_is_known_later)
{
	uint64_t found[TAIL_PATH_MAX];

	call(1, 2);
	call(2, GOAL);
	functions[2].later = true;
	ck_assert_int_eq(find(found), -EAGAIN);
}
END_TEST

START_TEST(very_long_ways)
{
	uint64_t found[TAIL_PATH_MAX];
	unsigned i;

	for (i = 1; i < TAIL_PATH_MAX - 1; i++)
		call(i, i + 1);
	call(i, GOAL);
	ck_assert_int_eq(find(found), TAIL_PATH_MAX - 1);
	for (unsigned k = 0; k < i; k++)
		ck_assert_uint_eq(found[k], 100 * (k + 1));
	functions[i].calls[0] = i + 1;
	call(i + 1, GOAL);
	ck_assert_int_eq(find(found), 0);
}
END_TEST

/* Each of so many functions calls each: ways without number. */
START_TEST(very_many_ways)
{
	uint64_t found[TAIL_PATH_MAX];

	for (unsigned i = 1; i <= CALLS_MAX; i++)
		for (unsigned k = 1; k < CALLS_MAX; k++)
			call(i, k + 1);
	for (unsigned i = 10; i < 30; i++) {
		call(i, i + 1);
		call(i, i + 1);
	}
	call(CALLS_MAX, 10);
	ck_assert_int_eq(find(found), 0);
	ck_assert_uint_lt(asked, 5000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tail_path");
	TCase *tcase = tcase_create("tail_path");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, the_only_way);
	tcase_add_test(tcase, ways_that_end_elsewhere_do_not_matter);
	tcase_add_test(tcase, no_way);
	tcase_add_test(tcase, two_ways_have_nothing_in_common);
	tcase_add_test(tcase, two_jumps_to_the_same_function);
	tcase_add_test(tcase, what_several_ways_have_in_common_at_their_ends);
	tcase_add_test(tcase, a_way_that_may_lead_anywhere_takes_the_far_end);
	tcase_add_test(tcase,
		       a_way_that_leads_nobody_knows_where_proves_nothing);
	tcase_add_test(tcase, functions_whose_tail_calls_are_not_all_known);
	tcase_add_test(tcase, loops_are_passed_by);
	tcase_add_test(tcase, what_is_known_later);
	tcase_add_test(tcase, very_long_ways);
	tcase_add_test(tcase, very_many_ways);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
