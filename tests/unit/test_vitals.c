/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <unistd.h>

#include "prepared_files.h"
#include "sysdeps/linux/vitals.h"

/* Prepared files, as kernels with other cgroups than this one's write them. */

static void set_up(void)
{
	prepare_files();
	put("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
	put("/proc/7/status", "Name:\tx\nVmPeak:\t 90 kB\nVmSize:\t 80 kB\n"
			      "VmRSS:\t 40 kB\nRssAnon:\t 30 kB\n"
			      "RssFile:\t 8 kB\nVmSwap:\t 4 kB\n");
	put("/proc/7/maps", "1000-2000 r-xp 0 00:00 0 /a\n3000-4000 rw-p 0 "
			    "00:00 0 [heap]\n");
	put("/proc/7/stat",
	    "7 (a) b (c) S 1 7 7 0 -1 4194560 111 5 22 6 300 100 9 9 20 0 1 0 "
	    "5000 80000\n");
	put("/proc/uptime", "70.50 100.25\n");
}

START_TEST(available)
{
	ck_assert_uint_eq(vitals_available_bytes(root), 0);
	put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\n"
			     "MemAvailable:     700 kB\nCached: 650 kB\n");
	ck_assert_uint_eq(vitals_available_bytes(root), 700 * 1024);
}
END_TEST

START_TEST(process)
{
	struct vitals v;

	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.virtual_bytes, 80 * 1024);
	ck_assert_uint_eq(v.resident_bytes, 40 * 1024);
	ck_assert_uint_eq(v.swapped_bytes, 4 * 1024);
	ck_assert_uint_eq(v.anonymous_bytes, 30 * 1024);
	ck_assert_uint_eq(vitals_resident(&v), v.resident_bytes);
	v.own_bytes = 4096;
	ck_assert_uint_eq(vitals_resident(&v), v.resident_bytes - 4096);
	v.own_bytes = v.resident_bytes + 1;
	ck_assert_uint_eq(vitals_resident(&v), 0);
	ck_assert_uint_eq(v.file_bytes, 8 * 1024);
	ck_assert_uint_eq(vitals_count_mappings(root, 7), 2);
	ck_assert_uint_eq(vitals_count_mappings(root, 8), 0);
	ck_assert_uint_eq(v.machine_bytes, 1000 * 1024);
	ck_assert_uint_eq(v.minor_faults, 111);
	ck_assert_uint_eq(v.major_faults, 22);
	/* 50 s after the machine's start, if a tick is a 100th. */
	ck_assert_uint_eq(v.age_ns,
			  70500000000 -
				  5000 * (1000000000 / sysconf(_SC_CLK_TCK)));
	ck_assert_uint_eq(v.processor_ns,
			  400 * (1000000000 / sysconf(_SC_CLK_TCK)));
	ck_assert_uint_eq(v.cgroup_version, 0);
	ck_assert_int_eq(vitals_read(root, 8, &v), -ERR_GONE);
}
END_TEST

/* One that has begun later than now is none that can be timed. */
START_TEST(process_without_an_age)
{
	struct vitals v;

	put("/proc/uptime", "1.00 1.00\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.minor_faults, 111);
	ck_assert_uint_eq(v.age_ns, 0);
	put("/proc/7/stat", "7 (a) S 1 7 7 0 -1 4194560 111 5 22 6 3\n");
	put("/proc/uptime", "70.50 100.25\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.major_faults, 22);
	ck_assert_uint_eq(v.age_ns, 0);
}
END_TEST

/* It was killed: that is counted when it has gone. */
START_TEST(kills_afterwards)
{
	struct vitals v;

	put("/proc/7/cgroup", "0::/a\n");
	put("/sys/fs/cgroup/a/memory.events", "oom 0\noom_kill 0\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.oom_kills, 0);
	put("/proc/7/status", "Name:\tx\nState:\tZ (zombie)\n");
	put("/sys/fs/cgroup/a/memory.events", "oom 1\noom_kill 1\n");
	vitals_read_kills(root, &v);
	ck_assert_uint_eq(v.oom_kills, 1);
	/* Its group may have gone with it. */
	strcpy(v.kills_path, "/sys/fs/cgroup/b/memory.events");
	vitals_read_kills(root, &v);
	ck_assert_uint_eq(v.oom_kills, 1);
}
END_TEST

/* One that has ended has no memory. */
START_TEST(zombie)
{
	struct vitals v;

	put("/proc/7/status", "Name:\tx\nState:\tZ (zombie)\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), -ERR_GONE);
}
END_TEST

/* A group above may be the one that is nearly full; files can be taken back. */
START_TEST(room_is_the_least_of_all)
{
	struct vitals v;

	put("/proc/7/cgroup", "4:memory:/a/b\n");
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9000\n");
	put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "8900\n");
	put("/sys/fs/cgroup/memory/a/memory.stat",
	    "inactive_file 1\ntotal_inactive_file 30\n"
	    "total_active_file 20\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "6000\n");
	put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "4000\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.room_bytes, 100 + 30 + 10);
	ck_assert_str_eq(v.room_path, "/sys/fs/cgroup/memory/a");
	/* What has a place in the swap needs none in memory. */
	put("/proc/meminfo", "MemTotal: 1000 kB\nSwapFree: 2 kB\n");
	put("/sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes", "9500\n");
	put("/sys/fs/cgroup/memory/a/memory.memsw.usage_in_bytes", "9000\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.room_bytes, 140 + 500);
	put("/sys/fs/cgroup/memory/a/memory.swappiness", "0\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.room_bytes, 140);
	put("/proc/7/cgroup", "4:memory:/c\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.room_bytes, UINT64_MAX);
}
END_TEST

START_TEST(version_1)
{
	struct vitals v;

	put("/proc/7/cgroup", "5:cpu,cpuacct:/\n4:memory:/a/b\n0::/a\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes",
	    "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000\n");
	put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4000\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "6000\n");
	put("/sys/fs/cgroup/memory/a/b/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.cgroup_version, 1);
	ck_assert_uint_eq(v.limit_bytes, 5000);
	ck_assert_uint_eq(v.cgroup_bytes, 4000);
	ck_assert_uint_eq(v.oom_kills, 3);
}
END_TEST

START_TEST(version_2)
{
	struct vitals v;

	put("/proc/7/cgroup", "0::/system.slice/x.service\n");
	put("/sys/fs/cgroup/system.slice/x.service/memory.max", "max\n");
	put("/sys/fs/cgroup/system.slice/x.service/memory.events",
	    "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\n");
	put("/sys/fs/cgroup/system.slice/memory.max", "8192\n");
	put("/sys/fs/cgroup/system.slice/memory.current", "77\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.cgroup_version, 2);
	ck_assert_uint_eq(v.limit_bytes, 8192);
	ck_assert_uint_eq(v.cgroup_bytes, 77);
	ck_assert_uint_eq(v.oom_kills, 1);
}
END_TEST

/* A container's view: its group lies outside of what is mounted. */
START_TEST(odd_groups)
{
	struct vitals v;

	put("/proc/7/cgroup", "nonsense\n4:memory\n4:memory:/../..\n0::\n");
	ck_assert_int_eq(vitals_read(root, 7, &v), 0);
	ck_assert_uint_eq(v.limit_bytes, 0);
}
END_TEST

static void put_group(const char *path, const char *limit)
{
	char *limit_file = xasprintf("%s/memory.max", path);
	char *usage_file = xasprintf("%s/memory.current", path);
	char *processes = xasprintf("%s/cgroup.procs", path);

	put(limit_file, limit);
	put(usage_file, "0\n");
	put(processes, "1\n");
	free(limit_file);
	free(usage_file);
	free(processes);
}

static void check_found(const char *group, uint64_t limit, const char *path)
{
	char *line = xasprintf("0::%s\n", group);
	struct vitals v;

	put("/proc/7/cgroup", line);
	vitals_read_room(root, 7, &v);
	ck_assert_msg(v.limit_bytes == limit, "%s: %ju, not %ju", group,
		      (uintmax_t)v.limit_bytes, (uintmax_t)limit);
	ck_assert_str_eq(v.room_path, path);
	ck_assert_uint_eq(v.cgroup_version, limit ? 2 : 0);
	free(line);
}

/*
 * In a container its own group is the root of what is mounted: another one's is
 * nowhere, and what is there isn't that one's.
 */
START_TEST(part_of_the_tree)
{
	put("/proc/self/mountinfo",
	    "29 22 0:26 /docker/a /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	    "30 22 0:27 / /tmp rw shared:1 master:2 - tmpfs tmpfs rw\n");
	put_group("/sys/fs/cgroup", "4096\n");
	put_group("/sys/fs/cgroup/in", "2048\n");
	check_found("/docker/a", 4096, "/sys/fs/cgroup");
	check_found("/docker/a/in", 2048, "/sys/fs/cgroup/in");
	check_found("/docker/b", 0, "");
	check_found("/docker/ab", 0, "");
	check_found("/docker/a/../b", 0, "");
	check_found("/", 0, "");
	/* Later the same place is another's. */
	put("/proc/self/mountinfo",
	    "29 22 0:26 /docker/a /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	    "30 29 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
	check_found("/docker/a", 0, "");
}
END_TEST

/* Paths are relative to the reader's cgroup namespace. */
START_TEST(namespace_of_its_own)
{
	put("/proc/self/mountinfo",
	    "29 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	    "30 22 0:26 /../b /in\\040b rw - cgroup2 cgroup rw,nsdelegate\n");
	put_group("/sys/fs/cgroup", "4096\n");
	put_group("/sys/fs", "1\n");
	put_group("/sys/fs/c", "2\n");
	put_group("/in b", "8192\n");
	put_group("/in b/d", "9000\n");
	check_found("/", 4096, "/sys/fs/cgroup");
	check_found("/../b", 8192, "/in b");
	check_found("/../b/d", 8192, "/in b");
	check_found("/..", 0, "");
	check_found("/../c", 0, "");
}
END_TEST

/* What is no mount of a memory controller, and lines that are none. */
START_TEST(odd_mounts)
{
	struct vitals v;

	put("/proc/self/mountinfo",
	    "\n - cgroup2 x y\n1 2 3 - cgroup cgroup rw,memory\n"
	    "31 22 0:26 / /a rw - cgroup cgroup rw,cpu\n"
	    "32 22 0:26 / /b rw - cgroup cgroup rw,memory_x\n"
	    "33 22 0:26 / /c rw - cgroup2 cgroup rw\n"
	    "34 22 0:26 / /d");
	put("/proc/7/cgroup", "4:memory:/g\n0::/g\n");
	put_group("/c", "4096\n");
	put_group("/c/g", "2048\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.cgroup_version, 0);
	put("/proc/self/mountinfo",
	    "34 22 0:26 / /d rw - cgroup cgroup rw,cpu,memory\n");
	put("/d/g/cgroup.procs", "");
	put("/d/g/memory.limit_in_bytes", "77\n");
	vitals_read_room(root, 7, &v);
	ck_assert_uint_eq(v.cgroup_version, 1);
	ck_assert_uint_eq(v.limit_bytes, 77);
}
END_TEST

/* The real thing, against what this process knows of itself. */
START_TEST(own)
{
	struct vitals v;

	ck_assert_int_eq(vitals_read("", getpid(), &v), 0);
	ck_assert_uint_gt(v.resident_bytes, 100000);
	ck_assert_uint_gt(v.virtual_bytes, v.resident_bytes);
	ck_assert_uint_eq(v.machine_bytes / 1024,
			  (uint64_t)sysconf(_SC_PHYS_PAGES) *
				  sysconf(_SC_PAGESIZE) / 1024);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vitals");
	TCase *tests = tcase_create("vitals");

	tcase_add_checked_fixture(tests, set_up, remove_files);
	tcase_add_test(tests, available);
	tcase_add_test(tests, process);
	tcase_add_test(tests, process_without_an_age);
	tcase_add_test(tests, zombie);
	tcase_add_test(tests, kills_afterwards);
	tcase_add_test(tests, room_is_the_least_of_all);
	tcase_add_test(tests, version_1);
	tcase_add_test(tests, version_2);
	tcase_add_test(tests, odd_groups);
	tcase_add_test(tests, part_of_the_tree);
	tcase_add_test(tests, namespace_of_its_own);
	tcase_add_test(tests, odd_mounts);
	tcase_add_test(tests, own);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
