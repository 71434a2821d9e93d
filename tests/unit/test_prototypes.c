/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype_fixture.h"

START_TEST(files_that_cannot_be_read)
{
	ck_assert_int_eq(add("nowhere.conf"), -ENOENT);
	ck_assert_int_eq(prototypes_add(all, "/dev/zero"), -EFBIG);
	ck_assert_str_eq(said, "");
}
END_TEST

/* The result's type tells which file a prototype is from. */
static const char *from(const char *library, const char *function)
{
	static struct strbuf out;
	struct call_values values = values_on(&machine64, RESULT);
	const struct prototype *found = prototypes_find(all, library, function);

	result[0] = 65;
	strbuf_clear(&out);
	if (found)
		prototype_print_result(found, &values, &limits, &out);
	return found ? strbuf_text(&out) : "none";
}

START_TEST(libraries_have_files_of_their_own)
{
	write_file("libfoo.so.conf", "int f();\nint g();\nint h();\n");
	write_file("libfoo.so.1.conf", "hex(int) g();\nhex(int) h();\n");
	write_file("libfoo.so.1.2.conf", "oct(int) h();\n");
	write_file("prog.conf", "char f();\n");
	write_file("all.conf", "void f();\nvoid every();\n");
	prototypes_add_directory(all, "/nonexistent");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("libfoo.so.1.2", "f"), "65");
	ck_assert_str_eq(from("libfoo.so.1.2", "g"), "0x41");
	ck_assert_str_eq(from("libfoo.so.1.2", "h"), "0101");
	ck_assert_str_eq(from("libfoo.so.1", "h"), "0x41");
	ck_assert_str_eq(from("libfoo.so", "h"), "65");
	ck_assert_str_eq(from("/usr/lib/libfoo.so.9", "h"), "65");
	ck_assert_str_eq(from("prog", "f"), "'A'");
	/* What the user names applies to all, and wins. */
	ck_assert_int_eq(add("all.conf"), 0);
	ck_assert_str_eq(from("libfoo.so.1.2", "f"), "<void>");
	ck_assert_str_eq(from("libfoo.so.1.2", "g"), "0x41");
	ck_assert_str_eq(from("libbar.so.1", "f"), "<void>");
	ck_assert_str_eq(from("libfoo.so.1", "every"), "<void>");
	ck_assert_str_eq(from("libbar.so.1", "g"), "none");
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(unknown_libraries_ask_those_that_were_loaded)
{
	write_file("libfoo.so.conf", "hex(int) f();\n");
	write_file("libc.so.conf", "int f();\nint puts();\n");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from(NULL, "f"), "65");
	ck_assert_str_eq(from("libother.so", "puts"), "none");
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from(NULL, "puts"), "65");
	ck_assert_str_eq(from(NULL, "nothing"), "none");
}
END_TEST

START_TEST(directories_can_be_read_at_once)
{
	write_file("libfoo.so.conf", "hex(int) f();\n");
	write_file("libbad.so.conf", "int f(;\n");
	write_file("notes.txt", "nothing to do with it\n");
	ck_assert_int_eq(prototypes_add(all, directory), 0);
	ck_assert_uint_eq(warnings, 1);
	ck_assert_ptr_nonnull(strstr(said, "libbad.so.conf:1:7: expected"));
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from("libbad.so.1", "f"), "none");
	ck_assert_uint_eq(warnings, 1);
}
END_TEST

START_TEST(earlier_directories_win)
{
	char *user = path_of("user");

	ck_assert_int_eq(mkdir(user, 0700), 0);
	write_file("user/libfoo.so.conf",
		   "import \"libfoo.so\";\nhex(int) f();\n"
		   "typedef t = char;\nt h();\n");
	write_file("libfoo.so.conf",
		   "typedef t = oct(int);\nint f();\nint g();\nt i();\n");
	prototypes_add_directory(all, user);
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("libfoo.so.1", "f"), "0x41");
	ck_assert_str_eq(from("libfoo.so.1", "g"), "65");
	ck_assert_str_eq(from("libfoo.so.1", "h"), "'A'");
	ck_assert_str_eq(from("libfoo.so.1", "i"), "0101");
	ck_assert_str_eq(said, "");
	free(user);
}
END_TEST

START_TEST(imports_in_a_circle)
{
	struct strbuf chain = { 0 };

	write_file("a.conf", "import \"b\";\ntypedef ta = int;\nint fa();\n");
	write_file("b.conf", "import \"a\";\nint fb();\n");
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from("a", "fb"), "65");
	ck_assert_uint_eq(warnings, 1);
	ck_assert_ptr_nonnull(strstr(said, "b.conf:1:8: expected"));
	for (int i = 0; i < 100; i++) {
		char *name = xasprintf("n%d.conf", i);

		strbuf_clear(&chain);
		strbuf_printf(&chain, "import \"n%d\";\nint f%d();\n", i + 1,
			      i);
		write_file(name, strbuf_text(&chain));
		free(name);
	}
	ck_assert_str_eq(from("n0", "f10"), "65");
	ck_assert_str_eq(from("n0", "f50"), "none");
	ck_assert_uint_eq(warnings, 2);
	strbuf_fini(&chain);
}
END_TEST

START_TEST(hostile_library_names)
{
	char name[5000];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	prototypes_add_directory(all, directory);
	ck_assert_str_eq(from(name, "f"), "none");
	ck_assert_str_eq(from("", "f"), "none");
	ck_assert_str_eq(from("../", "f"), "none");
	ck_assert_str_eq(from(".1.2.3", "f"), "none");
	ck_assert_str_eq(from("12", "f"), "none");
	ck_assert_str_eq(from("libfoo.so.1", ""), "none");
}
END_TEST

START_TEST(later_definitions_replace_earlier_ones)
{
	add_text("int f();\nhex(int) f();\n");
	ck_assert_str_eq(from(NULL, "f"), "0x41");
}
END_TEST

static Suite *prototypes_suite(void)
{
	Suite *suite = suite_create("prototypes");
	TCase *all_tests = tcase_create("prototypes");

	tcase_add_checked_fixture(all_tests, setup, teardown);
	tcase_add_test(all_tests, files_that_cannot_be_read);
	tcase_add_test(all_tests, libraries_have_files_of_their_own);
	tcase_add_test(all_tests, unknown_libraries_ask_those_that_were_loaded);
	tcase_add_test(all_tests, directories_can_be_read_at_once);
	tcase_add_test(all_tests, earlier_directories_win);
	tcase_add_test(all_tests, imports_in_a_circle);
	tcase_add_test(all_tests, hostile_library_names);
	tcase_add_test(all_tests, later_definitions_replace_earlier_ones);
	suite_add_tcase(suite, all_tests);
	return suite;
}

int main(void)
{
	return unit_run(prototypes_suite());
}
