/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

START_TEST(typedefs_and_comments)
{
	add_text("; a comment, with \"quotes and (\n"
		 "# another\n"
		 "\n"
		 "  \t\r\n"
		 "typedef mode = oct(uint);\n"
		 "typedef text = string;   ; comment\n"
		 "typedef link = struct;\n"
		 "typedef link = struct(int, link*);\n"
		 "int open(text, int, mode); # comment\n"
		 "link *next(link*);\r\n"
		 "int last(mode*)  ;");
	ck_assert_str_eq(said, "");
	arguments[0] = put_text("f");
	arguments[2] = 0600;
	ck_assert_str_eq(print("open", ENTRY), "\"f\", 0, 0600");
	ck_assert_str_eq(print("next", ENTRY), "{102, nil}");
	ck_assert_str_eq(print("last", ENTRY), "0146");
}
END_TEST

/* Each line with what is said of it. */
static const struct {
	const char *line;
	const char *complaint;
} mistakes[] = {
	{ "int f(int", "10: expected ',' or ')' before the end of the line" },
	{ "int f(int)", "11: expected ';' before the end of the line" },
	{ "int f(int) x;", "12: expected ';', not 'x'" },
	{ "int f(int); int g();", "13: expected one item a line, not 'int'" },
	{ "int f(,);", "7: expected a type, not ','" },
	{ "int f(int,);", "11: expected a type, not ')'" },
	{ "int f(wint);", "7: expected a type, not 'wint'" },
	{ "int f(string3);", "7: expected the number of a parameter, not "
			     "'string3'" },
	{ "int f(string[arg2]);", "14: expected the number of a parameter, "
				  "not 'arg2'" },
	{ "int f(string[x]);", "14: expected a length (a number, argN, eltN, "
			       "retval or zero), not 'x'" },
	{ "int f(string[3);", "15: expected ']', not ')'" },
	{ "int f(string(int));", "14: expected char* or array(char, "
				 "LENGTH)*, not 'int'" },
	{ "int f(hex(void));", "11: expected an integer type, not 'void'" },
	{ "int f(enum(A=x));", "14: expected a number, not 'x'" },
	{ "int f(enum(A B));", "14: expected ',' or ')', not 'B'" },
	{ "int f(enum());", "12: expected a name, not ')'" },
	{ "int f(struct(int int));", "18: expected ',' or ')', not 'int'" },
	{ "int f(struct(void));", "14: expected a type of known size, not "
				  "'void'" },
	{ "int f(format, int);", "15: expected no parameter behind the "
				 "format, not 'int'" },
	{ "int 3(int);", "5: expected a function's name, not '3'" },
	{ "int;", "4: expected a function's name, not ';'" },
	{ "f(int);", "1: expected a type, not 'f'" },
	{ "typedef = int;", "9: expected a name for the type, not '='" },
	{ "typedef x int;", "11: expected '=', not 'int'" },
	{ "typedef x = struct(x);", "20: expected a type, not 'x'" },
	{ "import libc;", "8: expected the name of a prototype file in "
			  "quotes, not 'libc'" },
	{ "import \"libc", "8: expected a closing quote, not '\"libc'" },
	{ "import \"nowhere\";", "8: expected a prototype file that can be "
				 "read, not 'nowhere'" },
	{ "import \"../x\";", "8: expected a prototype file that can be "
			      "read, not '../x'" },
	{ "int f(array(int, 0x));", "18: expected a number of at most 64 "
				    "bits, not '0x'" },
	{ "int f(array(int, 99999999999999999999));",
	  "18: expected a number of at most 64 bits, not "
	  "'99999999999999999999'" },
	{ "int f(int, void);", "5: a void parameter among others is taken "
			       "as hide(int)" },
};

START_TEST(mistakes_are_pointed_at)
{
	char *text = xasprintf("\nint before();\n%s\nint after(int);\n",
			       mistakes[_i].line);
	char *expected = xasprintf("%s/test.conf:3:%s\n", directory,
				   mistakes[_i].complaint);

	add_text(text);
	ck_assert_str_eq(said, expected);
	arguments[0] = 7;
	ck_assert_str_eq(print("after", ENTRY), "7");
	ck_assert_str_eq(print("before", ENTRY), "");
	free(text);
	free(expected);
}
END_TEST

START_TEST(nesting_has_an_end)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "int f(");
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&text, "hex(");
	strbuf_puts(&text, "\nint g(int");
	for (int i = 0; i < 100000; i++)
		strbuf_putc(&text, '*');
	strbuf_puts(&text, ");\nint h(array(int, ");
	for (int i = 0; i < 100000; i++)
		strbuf_puts(&text, "zero(");
	strbuf_puts(&text, "\ntypedef t = int*;\n");
	for (int i = 0; i < 1000; i++)
		strbuf_puts(&text, "typedef t = t*;\n");
	add_text(strbuf_text(&text));
	strbuf_fini(&text);
	ck_assert_ptr_nonnull(strstr(said, ":1:135: expected types nested"));
	ck_assert_ptr_nonnull(strstr(said, ":2:43: expected types nested"));
	ck_assert_ptr_nonnull(strstr(said, ":3:173: expected lengths nested"));
	ck_assert_ptr_nonnull(strstr(said, "further errors are not shown"));
	ck_assert_uint_le(warnings, 22);
}
END_TEST

START_TEST(binary_files_are_no_trouble)
{
	static const char bytes[] = "int f(int);\n\0\0\377int\0 g();\nint h();";

	write_bytes("binary.conf", bytes, sizeof(bytes));
	ck_assert_int_eq(add("binary.conf"), 0);
	ck_assert_uint_eq(warnings, 2);
	ck_assert_str_eq(print("f", ENTRY), "0");
}
END_TEST

static Suite *parse_suite(void)
{
	Suite *suite = suite_create("parse");
	TCase *all_tests = tcase_create("parse");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, typedefs_and_comments);
	tcase_add_loop_test(all_tests, mistakes_are_pointed_at, 0,
			    ARRAY_SIZE(mistakes));
	tcase_add_test(all_tests, nesting_has_an_end);
	tcase_add_test(all_tests, binary_files_are_no_trouble);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(parse_suite());
}
