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
	{ "int f(int) g", "12: expected ';', not 'g'" },
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
	{ "int f(string(double));", "14: expected char* or array(char, "
				    "LENGTH)*, not 'double'" },
	{ "int f(format(int));", "14: expected char* or array(char, "
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
	{ "int f(flags(A));", "14: expected '=', not ')'" },
	{ "int f(flags(A=4/3));", "17: expected a mask that holds the value, "
				  "not '3'" },
	{ "int f(flags(A=0/0));", "17: expected a mask that holds the value, "
				  "not '0'" },
	{ "int f(flags[string](A=1));", "13: expected an integer type, not "
					"'string'" },
	{ "int f(int, when(arg2 & 1, int), int);",
	  "33: expected another when() behind this one, or ')', not 'int'" },
	{ "int f(int, when(arg1 & 1, int) | when(arg1 & 2, char), int);",
	  "56: expected another when() behind this one, or ')', not 'int'" },
	{ "int f(int, when(arg1 & 1, double) | int);",
	  "12: expected a number or pointer, no larger than a pointer, not "
	  "'when'" },
	{ "int f(int, when(arg1 & 1, int) | llong);",
	  "34: expected a number or pointer, no larger than a pointer, not "
	  "'llong'" },
	{ "int f(int, when(arg1 & 1, int) | format);",
	  "34: expected a number or pointer, no larger than a pointer, not "
	  "'format'" },
	{ "int f(int, when(arg1 & 1, int) |);", "33: expected a type, not "
						"')'" },
	{ "int f(int, int | int);", "16: expected ',' or ')', not '|'" },
	{ "int f(when(retval & 1, int));", "12: expected an argument (argN), "
					   "not 'retval'" },
	{ "int f(when(arg3 == 1, int));", "12: expected the number of a "
					  "parameter, not 'arg3'" },
	{ "int f(when(arg1 < 1, int));", "17: expected '&' or '==', not '<'" },
	{ "int f(when(arg1 = 1, int));", "19: expected '==', not '1'" },
	{ "int f(when(arg1 == x, int));", "20: expected a number, not 'x'" },
	{ "int f(when(arg1 == 1 int));", "22: expected ',', not 'int'" },
	{ "int f(when(arg1 & 1, int x));", "26: expected ')', not 'x'" },
	{ "int f(..., int);", "10: expected ')', not ','" },
	{ "int f(+...);", "8: expected a type, not '...'" },
	{ "int f(format, ...);", "15: expected no parameter behind the "
				 "format, not '...'" },
	{ "int f(int char);", "11: expected ',' or ')', not 'char'" },
	{ "int f(int a b);", "13: expected ',' or ')', not 'b'" },
	{ "int f(int .);", "11: expected a name, not '.'" },
	{ "int f(int ...);", "11: expected a name, not '...'" },
	{ "int f(int .1);", "11: expected a name, not '.1'" },
	{ "int f(int 1);", "11: expected ',' or ')', not '1'" },
	{ "errno(double) f();", "7: expected an integer or pointer, not "
				"'double'" },
	{ "errnum(addr) f();", "8: expected an integer, not 'addr'" },
	{ "errno int f();", "1: expected a type, not 'errno'" },
	{ "typedef s = struct; s f();", "21: expected one item a line, not "
					"'s'" },
	{ "int f(union);", "7: expected a type of known size, not 'union'" },
	{ "struct f();", "1: expected a type of known size, not 'struct'" },
	{ "int f(array(struct, 2)*);", "13: expected a type of known size, "
				       "not 'struct'" },
	{ "int f(struct(array(int, 999999999)));",
	  "35: expected a smaller type, not ')'" },
	{ "int f(array(array(array(char, 99999), 99999), 99999));",
	  "45: expected a smaller type, not ','" },
	{ "int f(bytes[arg1*]);", "18: expected a length (a number, argN, "
				  "eltN, retval or zero), not ']'" },
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

START_TEST(files_of_newer_ltraces)
{
	write_file("some.so-types.conf",
		   "typedef handle_t = void;\n"
		   "typedef key_t = uint\n"
		   "typedef wide = string(array(uint, zero)*);\n"
		   "typedef letter = string(int);\n");
	prototypes_add_directory(all, directory);
	add_text("import \"some.so-types\";\n"
		 "typedef llong = long;\n"
		 "int  open (handle_t *, key_t)\n"
		 "void *get(+handle_t **, array (key_t, 2) * )  ;; why not\n"
		 "array(enum[short] (A, B), 2) *both(bin(uint), hide(void*));\n"
		 "letter next(wide, +string[arg0], format(wide));\n"
		 "string2 tail(int, zero) # wrong\n"
		 "struct(long,long,char,char) large(struct(), llong);\n"
		 "function int last(struct(int, array(struct(int, int), elt1)*,"
		 " string[elt1])*);\n");
	ck_assert_str_eq(strchr(said, ':'),
			 ":7:19: expected a type, not 'zero'\n");
	arguments[0] = DATA;
	arguments[1] = 7;
	result[0] = 'x';
	ck_assert_str_eq(print("open", ENTRY), "0x10000, 7");
	ck_assert_str_eq(print("next", RESULT), "'x'");
	result[0] = put("\1\0\0", 4);
	ck_assert_str_eq(print("both", RESULT), "[B, A]");
	ck_assert_str_eq(print("both", ENTRY), "0b10000000000000000");
	ck_assert_str_eq(print("large", ENTRY), "{}, 65536");
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

START_TEST(items_go_on_in_indented_lines)
{
	add_text("int f(enum(A=1, # the first\n"
		 "\tB,\n"
		 "\n"
		 "# in between\n"
		 "  C\n"
		 "), hex(\n"
		 "    int)\n"
		 ");\n"
		 "typedef t = flags(X=1,\n"
		 "\tY=2);\n"
		 "int g(t);\n");
	ck_assert_str_eq(said, "");
	arguments[0] = 3;
	arguments[1] = 16;
	ck_assert_str_eq(print("f", ENTRY), "C, 0x10");
	ck_assert_str_eq(print("g", ENTRY), "X|Y");
}
END_TEST

START_TEST(broken_items_end_where_the_next_begins)
{
	add_text("int broken(flags(A=1,\n"
		 "\tB=x,\n"
		 "\tC=3));\n"
		 "int f(int);\n"
		 "int open_end(flags(A=1,\n"
		 "int g(int);\n"
		 "int h(enum(A,\n"
		 "\tB, B C));\n"
		 "int last(int");
	ck_assert_uint_eq(warnings, 4);
	ck_assert_ptr_nonnull(strstr(said, ":2:4: expected a number, not "
					   "'x'"));
	ck_assert_ptr_nonnull(strstr(said, ":5:24: expected a name before "
					   "the end"));
	ck_assert_ptr_nonnull(strstr(said, ":8:7: expected ',' or ')', not "
					   "'C'"));
	ck_assert_ptr_nonnull(strstr(said, ":9:13: expected"));
	ck_assert_str_eq(print("f", ENTRY), "0");
	ck_assert_str_eq(print("g", ENTRY), "0");
	ck_assert_ptr_null(prototypes_find(all, NULL, "broken"));
	ck_assert_ptr_null(prototypes_find(all, NULL, "open_end"));
	ck_assert_ptr_null(prototypes_find(all, NULL, "h"));
}
END_TEST

START_TEST(types_that_grow_too_large)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, "typedef t = struct(int);\n");
	for (int i = 0; i < 28; i++)
		strbuf_puts(&text, "typedef t = struct(t, t);\n");
	strbuf_puts(&text, "typedef e = struct(array(char, zero));\n");
	for (int i = 0; i < 20; i++)
		strbuf_puts(&text, "typedef e = struct(e, e, e, e);\n");
	strbuf_puts(&text, "int f(t*, e*);\n");
	add_text(strbuf_text(&text));
	ck_assert_ptr_nonnull(strstr(said, "expected a smaller type"));
	arguments[0] = arguments[1] = DATA;
	ck_assert_uint_lt(strlen(print("f", ENTRY)), 10000);
	strbuf_fini(&text);
}
END_TEST

START_TEST(announced_types_are_completed)
{
	add_text("typedef u = union;\n"
		 "typedef s = struct(int n, u* next);\n"
		 "typedef u = union(s whole, hex(int) first);\n"
		 "int f(s*);\n"
		 "typedef s2 = struct;\n"
		 "int g(s2*, s2**);\n"
		 "typedef loop = struct;\n"
		 "typedef loop = struct(loop);\n");
	ck_assert_str_eq(strchr(said, ':'), ":8:23: expected a type of known "
					    "size, not 'loop'\n");
	arguments[0] = put((const uint64_t[]){ 7, DATA + 16, 9, 0 }, 32);
	arguments[1] = DATA + 8;
	ck_assert_str_eq(print("f", ENTRY),
			 "{n=7, next={whole={n=9, next=nil}, first=0x9}}");
	ck_assert_str_eq(print("g", ENTRY), "0x10000, 0x10010");
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
	tcase_add_test(all_tests, files_of_newer_ltraces);
	tcase_add_test(all_tests, nesting_has_an_end);
	tcase_add_test(all_tests, binary_files_are_no_trouble);
	tcase_add_test(all_tests, items_go_on_in_indented_lines);
	tcase_add_test(all_tests, broken_items_end_where_the_next_begins);
	tcase_add_test(all_tests, types_that_grow_too_large);
	tcase_add_test(all_tests, announced_types_are_completed);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(parse_suite());
}
