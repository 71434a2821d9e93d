/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "prepared_files.h"
#include "sysdeps/linux/freezer.h"

/* Prepared files, as kernels with either version of cgroups write them. */

START_TEST(nothing_known)
{
	ck_assert(!freezer_has_frozen(root, 7));
	put("/proc/7/cgroup", "nonsense\n4\n5:freezer\n::\n0::/../gone\n");
	ck_assert(!freezer_has_frozen(root, 7));
}
END_TEST

START_TEST(version_1)
{
	put("/proc/7/cgroup", "5:cpu,cpuacct:/\n4:freezer:/a/b\n0::/x\n");
	put("/sys/fs/cgroup/freezer/a/b/freezer.state", "THAWED\n");
	ck_assert(!freezer_has_frozen(root, 7));
	put("/sys/fs/cgroup/freezer/a/b/freezer.state", "FREEZING\n");
	ck_assert(freezer_has_frozen(root, 7));
	put("/sys/fs/cgroup/freezer/a/b/freezer.state", "FROZEN\n");
	ck_assert(freezer_has_frozen(root, 7));
}
END_TEST

START_TEST(version_1_of_another_name)
{
	put("/proc/7/cgroup", "4:name=freezer:/a\n3:freezers,cpu:/a\n");
	put("/sys/fs/cgroup/freezer/a/freezer.state", "FROZEN\n");
	ck_assert(!freezer_has_frozen(root, 7));
	put("/proc/7/cgroup", "4:cpu,freezer:/a\n");
	ck_assert(freezer_has_frozen(root, 7));
}
END_TEST

START_TEST(version_2)
{
	put("/proc/7/cgroup", "0::/system.slice/x.scope\n");
	put("/sys/fs/cgroup/system.slice/x.scope/cgroup.events",
	    "populated 1\nfrozen 0\n");
	put("/sys/fs/cgroup/system.slice/x.scope/cgroup.freeze", "0\n");
	ck_assert(!freezer_has_frozen(root, 7));
	put("/sys/fs/cgroup/system.slice/x.scope/cgroup.events",
	    "populated 1\nfrozen 1\n");
	ck_assert(freezer_has_frozen(root, 7));
}
END_TEST

/* A group in the middle of the unified tree beside v1. */
START_TEST(version_2_from_above)
{
	put("/proc/7/cgroup", "4:memory:/y\n0::/a/b\n");
	put("/sys/fs/cgroup/unified/a/b/cgroup.events",
	    "populated 1\nfrozen 0\n");
	put("/sys/fs/cgroup/unified/a/b/cgroup.freeze", "0\n");
	put("/sys/fs/cgroup/unified/a/cgroup.freeze", "1\n");
	ck_assert(freezer_has_frozen(root, 7));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("freezer");
	TCase *tests = tcase_create("freezer");

	tcase_add_checked_fixture(tests, prepare_files, remove_files);
	tcase_add_test(tests, nothing_known);
	tcase_add_test(tests, version_1);
	tcase_add_test(tests, version_1_of_another_name);
	tcase_add_test(tests, version_2);
	tcase_add_test(tests, version_2_from_above);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
