/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "filter/predicate.h"
#include "unit.h"

/* What --if asks, about calls of numbers that the test gives. */

struct known {
	struct predicate_call call;
	struct predicate_number arguments[2]; /* the second one is "size" */
	bool returned;
	struct predicate_number result;
	uint64_t error, duration;
};

static const struct known *known_of(const struct predicate_call *call)
{
	return (const struct known *)call;
}

static bool argument(struct predicate_call *call, unsigned index,
		     struct predicate_number *ret)
{
	if (index >= 2)
		return false;
	*ret = known_of(call)->arguments[index];
	return true;
}

static bool named(struct predicate_call *call, const char *name,
		  struct predicate_number *ret)
{
	*ret = known_of(call)->arguments[1];
	return !strcmp(name, "size");
}

static bool result(struct predicate_call *call, struct predicate_number *ret)
{
	*ret = known_of(call)->result;
	return known_of(call)->returned;
}

static bool error(struct predicate_call *call, struct predicate_number *ret)
{
	ret->value = known_of(call)->error;
	ret->is_signed = false;
	return known_of(call)->returned;
}

static bool duration(struct predicate_call *call, struct predicate_number *ret)
{
	ret->value = known_of(call)->duration;
	ret->is_signed = false;
	return known_of(call)->returned;
}

static const struct predicate_call_ops ops = { argument, named, result, error,
					       duration };

/* f(-1, 2 MiB), which has returned -1 with ENOENT after 5 ms. */
static struct known a_call(bool returned)
{
	return (struct known){
		.call.ops = &ops,
		.arguments = { { UINT64_MAX, true }, { 2 << 20, false } },
		.returned = returned,
		.result = { UINT64_MAX, true },
		.error = ENOENT,
		.duration = 5000000,
	};
}

static struct predicate *parse(const char *text)
{
	struct predicate *predicate = NULL;
	char *message;
	size_t column;

	ck_assert_msg(!predicate_add(&predicate, text, &message, &column), "%s",
		      text);
	return predicate;
}

static void check(const char *text, enum answer begun, enum answer over)
{
	struct known before = a_call(false), after = a_call(true);
	struct predicate *predicate = parse(text);

	ck_assert_msg(predicate_ask(predicate, &before.call, false) == begun,
		      "%s, begun", text);
	ck_assert_msg(predicate_ask(predicate, &after.call, true) == over,
		      "%s, over", text);
	predicate_free(predicate);
}

#define YES ANSWER_YES
#define NO  ANSWER_NO
#define MAY ANSWER_UNKNOWN

START_TEST(answers)
{
	check("size >= 2M", YES, YES);
	check("size > 2M", NO, NO);
	check("arg2 == 0x200000", YES, YES);
	check("size == 2m && size == 2048k && size < 1g", YES, YES);
	check("size == 2048K && 1.5K == 1536", YES, YES);
	check("arg1 < 0", YES, YES);
	check("arg1 == -1 && arg1 < size", YES, YES);
	check("arg1 & 6 == 6", YES, YES);
	check("size & 1", NO, NO);
	check("size", YES, YES);
	check("!(size == 2M) || !size", NO, NO);
	check("ret < 0", MAY, YES);
	check("ret == -1 && errno == ENOENT", MAY, YES);
	check("errno == EAGAIN||ret == 0", MAY, NO);
	check("time > 4.5ms && time < 1s && time >= 5000us", MAY, YES);
	check("time == 5000000ns", MAY, YES);
	/* What is known may decide alone. */
	check("ret < 0 && size < 5", NO, NO);
	check("ret < 0 || size > 5", YES, YES);
	check("!(ret < 0)", MAY, NO);
	/* Of what isn't known at all neither a thing nor its opposite. */
	check("arg3 == 0", MAY, MAY);
	check("!(count == 0)", MAY, MAY);
	check("count == 0 || size", YES, YES);
	check("0 || 1 && 0", NO, NO);
}
END_TEST

static void check_counts(const char *text, const char *expected)
{
	struct predicate *predicate = parse(text);
	char answers[16] = "";

	for (unsigned i = 0; i < 9; i++) {
		struct known before = a_call(false), after = a_call(true);
		enum answer answer =
			predicate_ask(predicate, &before.call, false);

		if (answer == ANSWER_UNKNOWN)
			answer = predicate_ask(predicate, &after.call, true);
		answers[i] = answer == ANSWER_YES ? '1' : '0';
	}
	ck_assert_msg(!strcmp(answers, expected), "%s: %s", text, answers);
	predicate_free(predicate);
}

/* Each call once, and only those that come so far in the text. */
START_TEST(counted)
{
	check_counts("every 3", "001001001");
	check_counts("first 2", "110000000");
	check_counts("every 3 && ret < 0", "001001001");
	check_counts("ret < 0 && every 3", "001001001");
	check_counts("size > 5M && every 3", "000000000");
	check_counts("size < 5M && first 4 && every 2", "010100000");
	check_counts("every 2 || every 3", "010111010");
}
END_TEST

static void refuse(const char *text, size_t where, const char *what)
{
	struct predicate *predicate = NULL;
	char *message = NULL;
	size_t column = 0;

	ck_assert_int_eq(predicate_add(&predicate, text, &message, &column),
			 -EINVAL);
	ck_assert_msg(column == where && strstr(message, what), "%s: %zu: %s",
		      text, column, message);
	free(message);
	predicate_free(predicate);
}

START_TEST(mistakes)
{
	char deep[128], longest[2048] = "1";

	refuse("", 1, "missing");
	refuse("size >= ", 9, "missing");
	refuse("size 5", 6, "missing before");
	refuse("size = 5", 6, "missing before");
	refuse("(size > 5", 10, "')'");
	refuse("size > 5)", 9, "missing before");
	refuse("size > 5X", 8, "units");
	refuse("size > 99999999999999999999", 8, "number");
	refuse("size > 20000000000G", 8, "number");
	refuse("every", 6, "how many");
	refuse("every 0", 7, "how many");
	refuse("ret < 0 && && time", 12, "missing");
	refuse("arg0 == 1", 1, "arg1 to arg64");
	refuse("arg65 == 1", 1, "arg1 to arg64");
	refuse("size > -", 8, "number");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	refuse(deep, 34, "parentheses");
	memset(deep, '!', sizeof(deep) - 1);
	refuse(deep, 34, "deep");
	for (size_t i = 1; i < 2000; i += 2)
		memcpy(longest + i, "&1", 3);
	refuse(longest, 258, "long");
}
END_TEST

START_TEST(several)
{
	struct known call = a_call(true);
	struct predicate *predicate = parse("size > 5");
	char *message;
	size_t column;

	ck_assert(!predicate_add(&predicate, "ret == -1", &message, &column));
	ck_assert_int_eq(predicate_ask(predicate, &call.call, true), YES);
	ck_assert(!predicate_add(&predicate, "ret == 0", &message, &column));
	ck_assert_int_eq(predicate_ask(predicate, &call.call, true), NO);
	predicate_free(predicate);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("predicate");
	TCase *tcase = tcase_create("predicate");

	tcase_add_test(tcase, answers);
	tcase_add_test(tcase, counted);
	tcase_add_test(tcase, mistakes);
	tcase_add_test(tcase, several);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
