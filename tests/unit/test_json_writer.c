/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/format/json_put.h"
#include "report/format/json_writer.h"
#include "unit.h"

static struct json_writer json;
static struct value_writer *writer;

static void setup(void)
{
	json_writer_init(&json);
	writer = &json.writer;
}

static void teardown(void)
{
	json_writer_fini(&json);
}

static void check_text(struct strbuf *text, const char *expected)
{
	ck_assert_str_eq(strbuf_text(text), expected);
	strbuf_fini(text);
}

static void check_values(const char *expected)
{
	struct strbuf text = { 0 };

	json_writer_put_values(&json, &text);
	check_text(&text, expected);
	json_writer_clear(&json);
}

static void number(uint64_t value, bool is_signed, enum number_style style,
		   const char *text)
{
	const struct value_number number = { value, is_signed, style, text };

	writer->ops->number(writer, &number);
}

static void text(const char *bytes, size_t length, bool cut)
{
	const struct value_text text = { .bytes = bytes,
					 .length = length,
					 .cut = cut };

	writer->ops->text(writer, &text);
}

START_TEST(integers)
{
	number(-1, true, NUMBER_DECIMAL, "-1");
	number(0xff, false, NUMBER_BASED, "0xff");
	check_values("[-1,255]");
	number(1ull << 53, false, NUMBER_DECIMAL, "");
	number((1ull << 53) + 1, false, NUMBER_DECIMAL, "");
	number(-(1ull << 53), true, NUMBER_DECIMAL, "");
	number(-(1ull << 53) - 1, true, NUMBER_DECIMAL, "");
	check_values("[9007199254740992,\"9007199254740993\","
		     "-9007199254740992,\"-9007199254740993\"]");
	number(UINT64_MAX, false, NUMBER_DECIMAL, "");
	number(INT64_MIN, true, NUMBER_DECIMAL, "");
	check_values("[\"18446744073709551615\",\"-9223372036854775808\"]");
}
END_TEST

START_TEST(numbers_that_mean_something)
{
	number('a', true, NUMBER_CHAR, "'a'");
	number(10, true, NUMBER_CHAR, "'\\n'");
	number(-1, true, NUMBER_CHAR, "EOF");
	number('\'', true, NUMBER_CHAR, "'\\''");
	check_values("[\"a\",\"\\\\n\",\"EOF\",\"\\\\'\"]");
	number(2, false, NUMBER_BOOL, "true");
	number(0, false, NUMBER_BOOL, "false");
	check_values("[true,false]");
	number(66, false, NUMBER_NAMED, "O_RDWR|O_CREAT");
	number(9, false, NUMBER_BITS, "<0,3>");
	check_values("[\"O_RDWR|O_CREAT\",\"<0,3>\"]");
}
END_TEST

START_TEST(reals)
{
	writer->ops->real(writer, 0.1, "0.100000");
	writer->ops->real(writer, INFINITY, "inf");
	writer->ops->real(writer, -NAN, "-nan");
	writer->ops->real(writer, 1e4000l, "1e4000");
	check_values("[0.10000000000000001,\"inf\",\"-nan\",\"1e4000\"]");
}
END_TEST

START_TEST(texts)
{
	text("caf\xc3\xa9\0\n\"", 8, false);
	check_values("[\"caf\xc3\xa9\\u0000\\n\\\"\"]");
	ck_assert(!json.cut);
	text("caf\xe9", 4, false);
	text("", 0, false);
	check_values("[{\"hex\":\"636166e9\"},\"\"]");
}
END_TEST

/* What is cut off may be within a character. */
START_TEST(texts_that_go_on)
{
	text("caf\xc3", 4, true);
	ck_assert(json.cut);
	text("\xf0\x9f\x98", 3, true);
	text("a\xff"
	     "b",
	     3, true);
	text("\xa9\xa9\xa9\xa9\xa9", 5, true);
	text("", 0, true);
	check_values("[\"caf\",\"\",{\"hex\":\"61ff62\"},"
		     "{\"hex\":\"a9a9a9a9a9\"},\"\"]");
}
END_TEST

START_TEST(addresses)
{
	writer->ops->address(writer, 0x7f0000001000);
	writer->ops->address(writer, 0);
	writer->ops->unreadable(writer, 0x10);
	writer->ops->unknown(writer);
	writer->ops->omitted(writer);
	writer->ops->word(writer, "1+2i");
	check_values("[\"0x7f0000001000\",null,{\"unreadable\":\"0x10\"},"
		     "{\"unknown\":true},{\"omitted\":true},\"1+2i\"]");
}
END_TEST

static void member(const char *name, uint64_t value)
{
	if (name)
		writer->ops->name(writer, name);
	number(value, true, NUMBER_DECIMAL, "");
}

START_TEST(groups)
{
	writer->ops->begin(writer, GROUP_ARRAY);
	number(1, true, NUMBER_DECIMAL, "1");
	writer->ops->cut(writer);
	writer->ops->end(writer, GROUP_ARRAY);
	ck_assert(json.cut);
	writer->ops->begin(writer, GROUP_STRUCT);
	member(NULL, 1);
	writer->ops->begin(writer, GROUP_STRUCT);
	writer->ops->end(writer, GROUP_STRUCT);
	writer->ops->end(writer, GROUP_STRUCT);
	writer->ops->begin(writer, GROUP_STRUCT);
	member("x", 1);
	member(NULL, 2);
	writer->ops->name(writer, "inner");
	writer->ops->begin(writer, GROUP_STRUCT);
	member("y", 3);
	writer->ops->end(writer, GROUP_STRUCT);
	writer->ops->end(writer, GROUP_STRUCT);
	check_values("[[1],[1,[]],{\"x\":1,\"1\":2,\"inner\":{\"y\":3}}]");
}
END_TEST

/* In the place of the first, with the value of the last. */
START_TEST(names_that_come_again)
{
	writer->ops->begin(writer, GROUP_STRUCT);
	member("x", 1);
	writer->ops->name(writer, "y\"");
	writer->ops->begin(writer, GROUP_ARRAY);
	member(NULL, 2);
	member(NULL, 3);
	writer->ops->end(writer, GROUP_ARRAY);
	member("x", 4);
	member("caf\xe9", 5);
	writer->ops->end(writer, GROUP_STRUCT);
	check_values("[{\"x\":4,\"y\\\"\":[2,3],\"3\":5}]");
}
END_TEST

START_TEST(names)
{
	struct strbuf text = { 0 };
	char name[] = "fd";

	member(NULL, 1);
	ck_assert(!json_writer_has_names(&json));
	member(name, 2);
	name[0] = 'x';
	writer->ops->name(writer, "box");
	writer->ops->begin(writer, GROUP_STRUCT);
	member("inner", 1);
	writer->ops->end(writer, GROUP_STRUCT);
	member(NULL, 3);
	ck_assert(json_writer_has_names(&json));
	json_writer_put_names(&json, &text);
	check_text(&text, "[null,\"fd\",\"box\",null]");
	check_values("[1,2,{\"inner\":1},3]");
	member(NULL, 1);
	ck_assert(!json_writer_has_names(&json));
}
END_TEST

START_TEST(the_first)
{
	const char *text;
	size_t length;

	ck_assert_ptr_null(json_writer_first(&json, &length));
	member(NULL, -17);
	ck_assert_ptr_nonnull(json_writer_first(&json, &length));
	ck_assert_uint_eq(length, 3);
	writer->ops->begin(writer, GROUP_ARRAY);
	member(NULL, 1);
	writer->ops->end(writer, GROUP_ARRAY);
	text = json_writer_first(&json, &length);
	ck_assert_uint_eq(length, 3);
	ck_assert(!strncmp(text, "-17", length));
}
END_TEST

static void check_as_jansson(json_t *value, const struct strbuf *text)
{
	struct strbuf expected = { 0 };

	ck_assert_ptr_nonnull(value);
	json_put(value, JSON_COMPACT | JSON_ENCODE_ANY, &expected);
	ck_assert_str_eq(strbuf_text(text), strbuf_text(&expected));
	strbuf_fini(&expected);
	json_decref(value);
}

/* Each byte, with others and alone, and each two. */
START_TEST(texts_are_those_of_jansson)
{
	struct strbuf text = { 0 };
	unsigned i;

	for (i = 0; i < 0x10000; i++) {
		const char bytes[] = { (char)(i >> 8), 'a', (char)i };
		const char two[] = { (char)(i >> 8), (char)i };

		strbuf_clear(&text);
		json_put_text(bytes, sizeof(bytes), &text);
		check_as_jansson(json_text(bytes, sizeof(bytes)), &text);
		strbuf_clear(&text);
		json_put_text(two, sizeof(two), &text);
		check_as_jansson(json_text(two, sizeof(two)), &text);
	}
	strbuf_fini(&text);
}
END_TEST

START_TEST(addresses_are_those_of_jansson)
{
	const taddr_t addresses[] = { 0, 1, 0x1f, 0xffffffffff600000 };
	struct strbuf text = { 0 };
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		strbuf_clear(&text);
		json_put_address(addresses[i], &text);
		check_as_jansson(json_address(addresses[i]), &text);
	}
	strbuf_fini(&text);
}
END_TEST

static Suite *json_suite(void)
{
	Suite *suite = suite_create("json");
	TCase *tcase = tcase_create("values");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, integers);
	tcase_add_test(tcase, numbers_that_mean_something);
	tcase_add_test(tcase, reals);
	tcase_add_test(tcase, texts);
	tcase_add_test(tcase, texts_that_go_on);
	tcase_add_test(tcase, addresses);
	tcase_add_test(tcase, groups);
	tcase_add_test(tcase, names_that_come_again);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, the_first);
	tcase_add_test(tcase, texts_are_those_of_jansson);
	tcase_add_test(tcase, addresses_are_those_of_jansson);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(json_suite());
}
