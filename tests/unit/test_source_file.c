/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "report/file/source_file.h"

static char path[] = "/tmp/calltrap-source.XXXXXX";
static struct source_file file;

static void setup(void)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static void write_bytes_to(const void *bytes, size_t size)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	ck_assert_int_eq(fclose(out), 0);
}

static void open_text(const char *text)
{
	write_bytes_to(text, strlen(text));
	ck_assert_int_eq(source_file_read(path, NULL, &file), 0);
}

static void check_line(unsigned line, const char *wanted)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	strbuf_puts(&out, "12:");
	ck_assert(source_file_add_line(&file, line, &out));
	ck_assert_str_eq(strbuf_text(&out) + 3, wanted);
}

static void check_none(unsigned line)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	ck_assert(!source_file_add_line(&file, line, &out));
	ck_assert_str_eq(strbuf_text(&out), "");
}

START_TEST(lines_in_any_order)
{
	open_text("one\n\nthree\nfour");
	check_line(1, "one");
	check_line(2, "");
	check_line(4, "four");
	check_line(3, "three");
	check_line(3, "three");
	check_none(5);
	check_none(4000000000);
	check_line(1, "one");
	source_file_fini(&file);
}
END_TEST

START_TEST(an_end_of_line_ends_the_file)
{
	open_text("one\n");
	check_line(1, "one");
	check_none(2);
	source_file_fini(&file);
	open_text("");
	check_none(1);
	source_file_fini(&file);
}
END_TEST

START_TEST(what_terminals_show)
{
	open_text(
		"\tx\n1234567\tx\n12345678\tx\nr\r\n\033[31m\x80\nna\xc3\xafve\n");
	check_line(1, "        x");
	check_line(2, "1234567 x");
	check_line(3, "12345678        x");
	check_line(4, "r");
	check_line(5, "\\033[31m\\200");
	check_line(6, "na\xc3\xafve");
	source_file_fini(&file);
	write_bytes_to("a\0b\n", 4);
	ck_assert_int_eq(source_file_read(path, NULL, &file), 0);
	check_line(1, "a\\000b");
	source_file_fini(&file);
}
END_TEST

START_TEST(long_lines_are_cut)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	char *text = xmalloc(1 << 20);

	memset(text, '\1', 1 << 20);
	strcpy(text + (1 << 20) - 7, "\nnext\n");
	open_text(text);
	ck_assert(source_file_add_line(&file, 1, &out));
	ck_assert_uint_lt(out.length, 200);
	ck_assert_str_eq(out.text + out.length - 3, "...");
	check_line(2, "next");
	source_file_fini(&file);
	free(text);
}
END_TEST

START_TEST(only_regular_files)
{
	ck_assert_int_eq(source_file_read("/dev/zero", NULL, &file), -EINVAL);
	ck_assert_int_eq(source_file_read("/", NULL, &file), -EINVAL);
	ck_assert_int_eq(source_file_read("/does/not/exist", NULL, &file),
			 -ENOENT);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(source_file_read(path, NULL, &file), -EINVAL);
	ck_assert_str_eq(source_file_problem(-EINVAL), "no regular file");
	ck_assert_str_eq(source_file_problem(-ENOENT),
			 "No such file or directory");
}
END_TEST

START_TEST(only_so_large_ones)
{
	open_text("x");
	source_file_fini(&file);
	ck_assert_int_eq(truncate(path, 16 << 20), 0);
	ck_assert_int_eq(source_file_read(path, NULL, &file), 0);
	ck_assert_uint_eq(file.text.length, 16 << 20);
	source_file_fini(&file);
	ck_assert_int_eq(truncate(path, (16 << 20) + 1), 0);
	ck_assert_int_eq(source_file_read(path, NULL, &file), -EFBIG);
	ck_assert_str_eq(source_file_problem(-EFBIG), "larger than 16 MiB");
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("source_file");
	TCase *tcase = tcase_create("source_file");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, lines_in_any_order);
	tcase_add_test(tcase, an_end_of_line_ends_the_file);
	tcase_add_test(tcase, what_terminals_show);
	tcase_add_test(tcase, long_lines_are_cut);
	tcase_add_test(tcase, only_regular_files);
	tcase_add_test(tcase, only_so_large_ones);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
