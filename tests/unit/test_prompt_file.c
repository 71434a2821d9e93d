/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/file/prompt_file.h"

static char folder[] = "/tmp/calltrap-prompt.XXXXXX";
static char path[64];

static const char *name_in(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void setup(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
	unlink(name_in("fifo"));
	unlink(name_in("file"));
	ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(files_are)
{
	FILE *file;

	ck_assert(file_is_prompt(name_in("file")));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert(file_is_prompt(path));
}
END_TEST

START_TEST(what_has_a_reader_is_not)
{
	ck_assert_int_eq(mkfifo(name_in("fifo"), 0600), 0);
	ck_assert(!file_is_prompt(path));
	ck_assert(!file_is_prompt("/dev/tty"));
	ck_assert(!file_is_prompt("/dev/null"));
}
END_TEST

START_TEST(what_cannot_be_made_is_not)
{
	ck_assert(!file_is_prompt(name_in("none/file")));
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("prompt_file");
	TCase *tcase = tcase_create("prompt_file");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, files_are);
	tcase_add_test(tcase, what_has_a_reader_is_not);
	tcase_add_test(tcase, what_cannot_be_made_is_not);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
