/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

START_TEST(lengths_come_from_numbers_and_arguments)
{
	add_text("int number(string[2]);\n"
		 "int by_argument(int, string1);\n"
		 "int bracket(string[arg2], ulong);\n"
		 "int by_pointer(string[arg2], uint*);\n"
		 "int canonical(string(array(char, arg2)*), int);\n"
		 "int whole(bytes[arg2], int);\n"
		 "int capped(string[zero(arg2)], int);\n"
		 "int star(string(char*));\n"
		 "string2 back(addr, int);\n"
		 "int early(+string[retval], int);\n"
		 "int implied(string0, int);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = put("ab\0cd", 6);
	arguments[1] = 2;
	ck_assert_str_eq(print("number", ENTRY), "\"ab\"");
	ck_assert_str_eq(print("bracket", ENTRY), "\"ab\", 2");
	arguments[1] = 1;
	ck_assert_str_eq(print("canonical", ENTRY), "\"a\", 1");
	arguments[1] = 5;
	ck_assert_str_eq(print("whole", ENTRY), "\"ab\\0cd\", 5");
	ck_assert_str_eq(print("capped", ENTRY), "\"ab\", 5");
	ck_assert_str_eq(print("star", ENTRY), "\"ab\"");
	result[0] = arguments[0];
	arguments[1] = 1;
	ck_assert_str_eq(print("back", RESULT), "\"a\"");
	arguments[1] = arguments[0];
	arguments[0] = 1;
	ck_assert_str_eq(print("by_argument", ENTRY), "1, \"a\"");
	arguments[0] = arguments[1];
	arguments[1] = put("\002\0\0", 4);
	ck_assert_str_eq(print("by_pointer", ENTRY), "\"ab\", 2");
	arguments[1] = 7;
	ck_assert_str_eq(print("by_pointer", ENTRY), "0x10000, 0x7?");
}
END_TEST

START_TEST(out_arguments_are_printed_later)
{
	add_text("long read(int, +bytes[retval], ulong);\n"
		 "int implied(string0, int);\n"
		 "void none(int);\n");
	arguments[0] = 3;
	arguments[1] = put_text("data");
	arguments[2] = 100;
	result[0] = 2;
	ck_assert_str_eq(print("read", ENTRY), "3");
	ck_assert_str_eq(print("read", LATER), "\"da\", 100");
	ck_assert_str_eq(print("read", RESULT), "2");
	result[0] = -1;
	ck_assert_str_eq(print("read", LATER), "0x10000, 100");
	result[0] = 0;
	ck_assert_str_eq(print("read", LATER), "\"\", 100");
	ck_assert_str_eq(print("implied", ENTRY), "");
	ck_assert_str_eq(print("none", ENTRY), "3");
	ck_assert_str_eq(print("none", LATER), "");
}
END_TEST

START_TEST(results_are_printed)
{
	add_text("void nothing();\n"
		 "string text();\n"
		 "hide(int) hidden();\n"
		 "char character();\n"
		 "addr address();\n"
		 "function int number(void);\n");
	result[0] = put_text("yes");
	ck_assert_str_eq(print("nothing", RESULT), "<void>");
	ck_assert_str_eq(print("text", RESULT), "\"yes\"");
	ck_assert_str_eq(print("hidden", RESULT), "");
	ck_assert_str_eq(print("address", RESULT), "0x10000");
	result[0] = 0x12345678ffffff41ull;
	ck_assert_str_eq(print("character", RESULT), "'A'");
	ck_assert_str_eq(print("number", RESULT), "-191");
	ck_assert_str_eq(print("number", ENTRY), "");
}
END_TEST

START_TEST(without_prototype_four_longs_are_guessed)
{
	arguments[0] = 10000;
	arguments[1] = 10001;
	arguments[2] = -10000;
	arguments[3] = 0xfffffffful;
	result[0] = -1;
	ck_assert_str_eq(print(NULL, ENTRY), "10000, 0x2711, -10000, 0xffffffff");
	ck_assert_str_eq(print(NULL, LATER), "");
	ck_assert_str_eq(print(NULL, RESULT), "-1");
	result[0] = 0x7fff00000000ul;
	ck_assert_str_eq(print(NULL, RESULT), "0x7fff00000000");
	arguments[2] = 0xffff0000ul;
	ck_assert_str_eq(print_on(&machine32, NULL, ENTRY),
			 "10000, 0x2711, 0xffff0000, -1");
}
END_TEST

START_TEST(words_of_32_bits)
{
	uint64_t two_pointers = DATA + 8;

	add_text("llong f(long, llong, string, ulong, uint**);\n"
		 "int printf(format);\n");
	put(&two_pointers, 8);
	put("\005\0\0\0\377\377\377\377", 8);
	arguments[0] = 0xfffffffe;
	arguments[1] = 0x89abcdef;
	arguments[2] = 0x01234567;
	arguments[3] = put_text("text");
	arguments[4] = 0xffffffff;
	arguments[5] = DATA;
	result[0] = 0x100000002ull;
	ck_assert_str_eq(print_on(&machine32, "f", ENTRY),
			 "-2, 81985529216486895, \"text\", 4294967295, 5");
	ck_assert_str_eq(print_on(&machine32, "f", RESULT), "4294967298");
	arguments[0] = put_text("%lld %d %ld %p");
	arguments[3] = 0xfffffff0;
	arguments[4] = 0xfffffff1;
	arguments[5] = 0xfffffff2;
	ck_assert_str_eq(print_on(&machine32, "printf", ENTRY),
			 "\"%lld %d %ld %p\", 81985529216486895, -16, -15, "
			 "0xfffffff2");
}
END_TEST

START_TEST(missing_arguments_are_question_marks)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "void f(int");
	for (int i = 0; i < ARGUMENTS; i++)
		strbuf_puts(&text, ", hide(int)");
	strbuf_puts(&text, ", string);\n");
	add_text(strbuf_text(&text));
	strbuf_fini(&text);
	ck_assert_str_eq(print("f", ENTRY), "0, ?");
}
END_TEST

static Suite *calls_suite(void)
{
	Suite *suite = suite_create("calls");
	TCase *all_tests = tcase_create("calls");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, lengths_come_from_numbers_and_arguments);
	tcase_add_test(all_tests, out_arguments_are_printed_later);
	tcase_add_test(all_tests, results_are_printed);
	tcase_add_test(all_tests, without_prototype_four_longs_are_guessed);
	tcase_add_test(all_tests, words_of_32_bits);
	tcase_add_test(all_tests, missing_arguments_are_question_marks);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(calls_suite());
}
