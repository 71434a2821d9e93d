/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live screen: what is handed over, what keys do, and the lines. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/screen/view.h"

#define ROWS 24

static struct live_shared *shared;
static struct view view;

static void set_up(void)
{
	shared = xcalloc(1, sizeof(*shared));
	view = (struct view){ .narrow = true };
}

static void tear_down(void)
{
	view_fini(&view);
	free(shared);
}

static struct live_row *add_row(struct live_picture *picture, const char *name,
				uint64_t bytes)
{
	struct live_row *row = &picture->rows[picture->count++];

	*row = (struct live_row){
		.key = picture->count,
		.bytes = bytes,
		.change = bytes,
		.has_size = true,
		.oldest = 3 * NS_PER_SECOND,
	};
	snprintf(row->name, sizeof(row->name), "%s", name);
	picture->all = picture->count;
	return row;
}

/* The lines with "\n" between; those that are selected have a ">". */
static char *drawn(const struct live_picture *picture, unsigned rows,
		   unsigned columns)
{
	struct line *lines = xcalloc(rows, sizeof(*lines));
	struct strbuf all = { 0 };

	view_lines(&view, picture, picture, rows, columns, lines);
	for (unsigned i = 0; i < rows; i++) {
		const char *text = strbuf_text(&lines[i].text);

		ck_assert_msg(strlen(text) <= columns, "too wide: %s", text);
		strbuf_printf(&all, "%s%s\n", lines[i].selected ? ">" : "",
			      text);
		strbuf_fini(&lines[i].text);
	}
	free(lines);
	return all.text;
}

static void check_drawn(const struct live_picture *picture, const char *with,
			const char *without)
{
	char *text = drawn(picture, ROWS, 80);

	if (with)
		ck_assert_msg(strstr(text, with), "no \"%s\" in:\n%s", with,
			      text);
	if (without)
		ck_assert_msg(!strstr(text, without), "\"%s\" in:\n%s", without,
			      text);
	free(text);
}

static void press(const struct live_picture *picture, int key)
{
	view_key(&view, shared, picture, view_page(ROWS), key);
}

/* Whoever reads keeps its picture, however many are written meanwhile. */
START_TEST(pictures)
{
	for (uint64_t number = 1; number <= 20; number++) {
		const struct live_picture *read;
		struct live_picture *blank;

		if (number % 3 == 0) {
			read = live_read(shared);
			ck_assert_uint_eq(read->number, number - 1);
		}
		read = &shared->pictures[atomic_load(&shared->reading)];
		blank = live_blank(shared);
		ck_assert_ptr_ne(blank, read);
		ck_assert_ptr_ne(
			blank, &shared->pictures[atomic_load(&shared->latest)]);
		blank->number = number;
		live_publish(shared, blank);
	}
	ck_assert_uint_eq(live_read(shared)->number, 20);
}
END_TEST

/* The other process may write what it likes. */
START_TEST(nonsense)
{
	atomic_store(&shared->reading, 4711);
	for (int i = 0; i < 9; i++) {
		struct live_picture *blank = live_blank(shared);

		ck_assert(blank >= shared->pictures &&
			  blank < shared->pictures + 3);
		live_publish(shared, blank);
	}
}
END_TEST

/* Of any number of samples the whole time is kept: a ramp stays one. */
START_TEST(sparks)
{
	struct live_spark spark = { 0 };

	for (int i = 0; i < 1000; i++) {
		live_spark_add(&spark, i);
		ck_assert_uint_le(spark.count, LIVE_SPARK);
	}
	ck_assert_uint_ge(spark.count, LIVE_SPARK / 2);
	ck_assert(spark.points[0] < 16);
	ck_assert(spark.points[spark.count - 1] > 980);
	for (unsigned i = 1; i < spark.count; i++)
		ck_assert(spark.points[i] > spark.points[i - 1]);
}
END_TEST

START_TEST(lines)
{
	struct live_picture *picture = &shared->pictures[0];

	snprintf(picture->what, sizeof(picture->what), "shop (4711)");
	picture->watched = 90 * NS_PER_SECOND;
	picture->resident = 3 << 20;
	picture->first_resident = 2 << 20;
	picture->likely = 1;
	picture->likely_bytes = 2048;
	add_row(picture, "leak shop.c:12, malloc", 2048)->level =
		VERDICT_LIKELY;
	picture->rows[0].has_level = true;
	check_drawn(picture, "calltrap top: shop (4711), watched for 90 s",
		    NULL);
	check_drawn(picture, "RSS       3.0 MiB, +1.0 MiB since the start",
		    NULL);
	check_drawn(picture, "leaks     1 site LIKELY (2.0 KiB)", "POSSIBLE");
	check_drawn(picture,
		    ">  2.0 KiB   +2.0 KiB         -    3s LIKELY    "
		    "leak shop.c:12, malloc",
		    NULL);
}
END_TEST

/* None is wider than the screen, and there is no screen too small. */
START_TEST(sizes)
{
	struct live_picture *picture = &shared->pictures[0];

	for (int i = 0; i < 100; i++)
		add_row(picture, "a_function_with_a_long_name in a library",
			1000 - i);
	picture->stack_of = picture->rows[0].key;
	snprintf(picture->stack, sizeof(picture->stack),
		 "  why: %0100d and "
		 "%0100d\n\n  f\n",
		 1, 2);
	for (unsigned columns = 1; columns < 140; columns += 3)
		for (unsigned rows = 1; rows < 60; rows += 7)
			free(drawn(picture, rows, columns));
}
END_TEST

START_TEST(selection)
{
	struct live_picture *picture = &shared->pictures[0];
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "function_%d.", i);
		add_row(picture, name, 1000 - i);
	}
	check_drawn(picture, "function_0.", "function_50.");
	press(picture, VIEW_END);
	check_drawn(picture, "function_99.", "function_0.");
	press(picture, VIEW_PAGE_UP);
	press(picture, VIEW_UP);
	ck_assert_uint_eq(view.selected, 100 - view_page(ROWS) - 1);
	check_drawn(picture, "function_83.", NULL);
	press(picture, VIEW_HOME);
	press(picture, VIEW_DOWN);
	press(picture, VIEW_ENTER);
	ck_assert_uint_eq(atomic_load(&shared->open), 2);
	press(picture, VIEW_ENTER);
	ck_assert_uint_eq(atomic_load(&shared->open), 0);
}
END_TEST

START_TEST(filter)
{
	struct live_picture *picture = &shared->pictures[0];

	add_row(picture, "alpha", 1);
	add_row(picture, "Beta", 1);
	press(picture, '/');
	press(picture, 'e');
	press(picture, 'q');
	ck_assert(!atomic_load(&shared->quit));
	press(picture, VIEW_BACKSPACE);
	press(picture, 'T');
	check_drawn(picture, "Beta", "alpha");
	press(picture, VIEW_ENTER);
	check_drawn(picture, "with \"eT\"", "alpha");
	press(picture, VIEW_DOWN);
	press(picture, VIEW_ENTER);
	ck_assert_uint_eq(atomic_load(&shared->open), 2);
	press(picture, VIEW_ESCAPE);
	press(picture, VIEW_ESCAPE);
	check_drawn(picture, "alpha", NULL);
	press(picture, 'q');
	ck_assert(atomic_load(&shared->quit));
}
END_TEST

START_TEST(requests)
{
	struct live_picture *picture = &shared->pictures[0];

	press(picture, 'w');
	press(picture, 'j');
	press(picture, 'w');
	press(picture, 'x');
	press(picture, 'm');
	for (enum live_file file = 0; file < LIVE_FILES; file++)
		ck_assert_uint_eq(atomic_load(&shared->saves[file]),
				  file == LIVE_JSON);
	ck_assert_uint_eq(atomic_load(&shared->marks), 1);
	for (int i = 0; i < LIVE_BYS; i++)
		press(picture, 'g');
	ck_assert_uint_eq(atomic_load(&shared->by), 0);
	for (int i = 0; i < LIVE_ORDERS; i++)
		press(picture, 's');
	ck_assert_uint_eq(atomic_load(&shared->order), 0);
}
END_TEST

/* It shows what was there, whatever comes after that. */
START_TEST(paused)
{
	struct live_picture *picture = &shared->pictures[0];

	add_row(picture, "before", 1);
	press(picture, 'p');
	ck_assert(view.paused);
	snprintf(picture->rows[0].name, LIVE_NAME, "after");
	check_drawn(view.frozen, "before", "after");
	check_drawn(view.frozen, "PAUSED", NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screen");
	TCase *tests = tcase_create("screen");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, pictures);
	tcase_add_test(tests, nonsense);
	tcase_add_test(tests, sparks);
	tcase_add_test(tests, lines);
	tcase_add_test(tests, sizes);
	tcase_add_test(tests, selection);
	tcase_add_test(tests, filter);
	tcase_add_test(tests, requests);
	tcase_add_test(tests, paused);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
