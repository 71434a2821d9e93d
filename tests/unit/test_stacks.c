/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "unit.h"

#define DEPTH_MAX  12
#define MODEL_SIZE 5000

static struct stacks *stacks;
static const struct code *code;

static void setup(void)
{
	stacks = stacks_new();
	code = stacks_code(stacks, NULL, "", 1);
}

static void teardown(void)
{
	stacks_free(stacks);
}

static struct frame frame_at(uint64_t address)
{
	return (struct frame){ code, address, FRAME_CFI };
}

START_TEST(a_stack_comes_back)
{
	struct frame frames[3] = { frame_at(1), frame_at(2), frame_at(3) };
	struct frame got[4];
	stack_id id = stacks_intern(stacks, frames, 3, STACK_CUT);

	ck_assert_uint_ne(id, STACK_NONE);
	ck_assert_uint_eq(stacks_frames(stacks, id, got, 4), 3);
	ck_assert_uint_eq(got[0].address, 1);
	ck_assert_uint_eq(got[2].address, 3);
	ck_assert_ptr_eq(got[1].code, code);
	ck_assert_uint_eq(stacks_depth(stacks, id), 3);
	ck_assert_int_eq(stacks_end(stacks, id), STACK_CUT);
	ck_assert_uint_eq(stacks_frames(stacks, id, got, 2), 2);
	ck_assert_uint_eq(got[1].address, 2);
}
END_TEST

START_TEST(callers_end_with_the_outermost)
{
	struct frame frames[2] = { frame_at(1), frame_at(2) };
	stack_id id = stacks_intern(stacks, frames, 2, STACK_COMPLETE);
	stack_id caller = stacks_caller(stacks, id);

	ck_assert_uint_eq(caller,
			  stacks_intern(stacks, frames + 1, 1, STACK_COMPLETE));
	ck_assert_uint_eq(stacks_caller(stacks, caller), STACK_NONE);
	ck_assert_uint_eq(stacks_caller(stacks, STACK_NONE), STACK_NONE);
	ck_assert_uint_eq(stacks_depth(stacks, STACK_NONE), 0);
}
END_TEST

START_TEST(what_differs_has_other_numbers)
{
	struct frame frame = frame_at(7), other = frame_at(7);
	stack_id id = stacks_intern(stacks, &frame, 1, STACK_COMPLETE);

	ck_assert_uint_ne(id, stacks_intern(stacks, &frame, 1, STACK_BROKEN));
	other.method = FRAME_POINTER;
	ck_assert_uint_ne(id, stacks_intern(stacks, &other, 1, STACK_COMPLETE));
	other = frame;
	other.code = stacks_code(stacks, NULL, "", 2);
	ck_assert_ptr_ne(other.code, code);
	ck_assert_uint_ne(id, stacks_intern(stacks, &other, 1, STACK_COMPLETE));
	ck_assert_uint_eq(id, stacks_intern(stacks, &frame, 1, STACK_COMPLETE));
}
END_TEST

/* ---- against a model that keeps every stack as it is ---- */

struct kept {
	struct frame frames[DEPTH_MAX];
	size_t count;
	enum stack_end end;
	stack_id id;
};

static bool same(const struct kept *a, const struct kept *b)
{
	size_t i;

	if (a->count != b->count || a->end != b->end)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->frames[i].address != b->frames[i].address ||
		    a->frames[i].method != b->frames[i].method)
			return false;
	return true;
}

/* Few addresses and methods, so that stacks are equal often enough. */
static void make_random(struct kept *ret)
{
	size_t i;

	ret->count = 1 + rand() % DEPTH_MAX;
	ret->end = rand() % 3;
	for (i = 0; i < ret->count; i++) {
		ret->frames[i] = frame_at(rand() % 3);
		if (rand() % 16 == 0)
			ret->frames[i].method = FRAME_POINTER;
	}
}

static void check_kept(const struct kept *kept)
{
	struct frame got[DEPTH_MAX];
	size_t i, n = stacks_frames(stacks, kept->id, got, DEPTH_MAX);

	ck_assert_uint_eq(n, kept->count);
	ck_assert_uint_eq(stacks_depth(stacks, kept->id), n);
	ck_assert_int_eq(stacks_end(stacks, kept->id), kept->end);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(got[i].address, kept->frames[i].address);
		ck_assert_int_eq(got[i].method, kept->frames[i].method);
	}
}

START_TEST(random_stacks_are_kept_once)
{
	struct kept *model = xcalloc(MODEL_SIZE, sizeof(*model));
	size_t i, j, equal = 0;

	srand(5);
	for (i = 0; i < MODEL_SIZE; i++) {
		make_random(&model[i]);
		model[i].id = stacks_intern(stacks, model[i].frames,
					    model[i].count, model[i].end);
	}
	for (i = 0; i < MODEL_SIZE; i++)
		check_kept(&model[i]);
	for (i = 0; i < MODEL_SIZE; i += 7)
		for (j = 0; j < i; j++) {
			bool equals = same(&model[i], &model[j]);

			if (equals != (model[i].id == model[j].id))
				ck_abort_msg("stacks %zu and %zu", i, j);
			equal += equals;
		}
	ck_assert_uint_gt(equal, 100);
	free(model);
}
END_TEST

START_TEST(a_node_takes_less_than_20_bytes)
{
	struct frame frame;
	stack_id id = 0;
	size_t i;

	for (i = 0; i < 1000000; i++) {
		frame = frame_at(i / 1000);
		if (i % 1000 == 0)
			id = stacks_begin(STACK_COMPLETE);
		id = stacks_extend(stacks, id,
				   stacks_frame_number(stacks, &frame));
	}
	ck_assert_uint_eq(stacks_nodes(stacks), 1000000);
	ck_assert_uint_lt(stacks_bytes(stacks) / stacks_nodes(stacks), 20);
}
END_TEST

START_TEST(a_script_is_there_once)
{
	const struct code *script = stacks_script(stacks, "/a.py", "f");

	ck_assert_ptr_eq(stacks_script(stacks, "/a.py", "f"), script);
	ck_assert_ptr_ne(stacks_script(stacks, "/a.py", "g"), script);
	ck_assert_ptr_ne(stacks_script(stacks, "/b.py", "f"), script);
	ck_assert_ptr_ne(stacks_script(stacks, "/a.p", "yf"), script);
	ck_assert_str_eq(script->path, "/a.py");
	ck_assert_str_eq(script->function, "f");
	ck_assert_ptr_null(script->image);
	script = stacks_script(stacks, "/a.py", NULL);
	ck_assert_ptr_null(script->function);
	ck_assert_str_eq(script->path, "/a.py");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stacks");
	TCase *tcase = tcase_create("stacks");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_stack_comes_back);
	tcase_add_test(tcase, callers_end_with_the_outermost);
	tcase_add_test(tcase, what_differs_has_other_numbers);
	tcase_add_test(tcase, random_stacks_are_kept_once);
	tcase_add_test(tcase, a_node_takes_less_than_20_bytes);
	tcase_add_test(tcase, a_script_is_there_once);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
