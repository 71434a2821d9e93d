/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/types.h"
#include "base/xalloc.h"
#include "sysdeps/linux/open_below.h"
#include "unit.h"

/* openat2() and the walk without it: they have to lead to the same place. */

static char *root;
static int root_fd;

static void set_up(void)
{
	char name[] = "/tmp/test_open_below.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(name));
	root = xstrdup(name);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root_fd, 0);
	ck_assert(!mkdirat(root_fd, "a", 0700));
	ck_assert(!mkdirat(root_fd, "a/b", 0700));
	ck_assert(!mkdirat(root_fd, "etc", 0700));
	close(openat(root_fd, "a/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	close(openat(root_fd, "etc/passwd", O_CREAT | O_WRONLY | O_CLOEXEC,
		     0600));
	ck_assert(!symlinkat("a/file", root_fd, "near"));
	ck_assert(!symlinkat("../../../../etc/passwd", root_fd, "a/b/up"));
	ck_assert(!symlinkat("/etc/passwd", root_fd, "a/b/absolute"));
	ck_assert(!symlinkat("/", root_fd, "a/top"));
	ck_assert(!symlinkat("round", root_fd, "round"));
	ck_assert(!symlinkat("/a/b/../", root_fd, "folder"));
}

static void tear_down(void)
{
	char *command = xasprintf("rm -r '%s'", root);

	close(root_fd);
	ck_assert_int_eq(system(command), 0);
	free(command);
	free(root);
}

/* Those of what was found, or 0 and the error. */
static ino_t look(int fd, int *err_ret)
{
	struct stat st = { 0 };

	*err_ret = fd < 0 ? fd : 0;
	if (fd >= 0) {
		ck_assert(!fstat(fd, &st));
		close(fd);
	}
	return st.st_ino;
}

static const struct {
	const char *path;
	int flags;
	const char *leads_to; /* below the root, or NULL */
	int err;
} cases[] = {
	{ "/", 0, ".", 0 },
	{ "", 0, NULL, -ENOENT },
	{ "a/file", 0, "a/file", 0 },
	{ "//a///b/..//file", 0, "a/file", 0 },
	{ "a/file/", 0, NULL, -ENOTDIR },
	{ "a/file/..", 0, NULL, -ENOTDIR },
	{ "a/none", 0, NULL, -ENOENT },
	{ "../../../etc/passwd", 0, "etc/passwd", 0 },
	{ "near", 0, "a/file", 0 },
	{ "near", O_NOFOLLOW, "near", 0 },
	{ "a/b/up", 0, "etc/passwd", 0 },
	{ "a/b/absolute", 0, "etc/passwd", 0 },
	{ "a/top/a/top/etc/passwd", O_NOFOLLOW, "etc/passwd", 0 },
	{ "a/b/../..", 0, ".", 0 },
	{ "round", 0, NULL, -ELOOP },
	{ "round", O_NOFOLLOW, "round", 0 },
	{ "folder/b", O_DIRECTORY, "a/b", 0 },
	{ "folder/file", O_DIRECTORY, NULL, -ENOTDIR },
	{ "folder", 0, "a", 0 },
};

static void check_way(size_t i, int fd, const char *way)
{
	struct stat st = { 0 };
	int err;
	ino_t found = look(fd, &err);

	ck_assert_msg(err == cases[i].err, "%s: %s: error %d, not %d", way,
		      cases[i].path, err, cases[i].err);
	if (cases[i].leads_to)
		ck_assert(!fstatat(root_fd, cases[i].leads_to, &st,
				   AT_SYMLINK_NOFOLLOW));
	ck_assert_msg(found == st.st_ino, "%s: %s leads elsewhere", way,
		      cases[i].path);
}

START_TEST(both_ways)
{
	const char *path = cases[_i].path;
	int flags = cases[_i].flags;

	check_way(_i, open_below(root_fd, path, flags), "openat2");
	check_way(_i, open_below_by_steps(root_fd, path, flags), "steps");
}
END_TEST

START_TEST(leaves_no_descriptor)
{
	int before = dup(root_fd), after;

	close(before);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = open_below_by_steps(root_fd, cases[i].path,
					     cases[i].flags);

		if (fd >= 0)
			close(fd);
	}
	after = dup(root_fd);
	close(after);
	ck_assert_int_eq(after, before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open_below");
	TCase *tests = tcase_create("open_below");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, both_ways, 0, ARRAY_SIZE(cases));
	tcase_add_test(tests, leaves_no_descriptor);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
