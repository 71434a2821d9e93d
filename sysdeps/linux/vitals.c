/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/vitals.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"

/* Limits above this are v1's way to say that there is none. */
#define NO_LIMIT (UINT64_C(1) << 60)

static FILE *open_file(const char *root, const char *path)
{
	char *whole CLEANUP(xfree_cleanup) = xasprintf("%s%s", root, path);

	return fopen(whole, "re");
}

static FILE *open_of(const char *root, pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open_file(root, path);
}

/* ---- the process ---- */

/* "VmSize:   123 kB" (proc(5), /proc/pid/status) */
static bool read_status(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "status");
	char line[256];
	uint64_t kb;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Threads: %" SCNu64, &kb) == 1)
			ret->threads = kb;
		if (sscanf(line, "VmSize: %" SCNu64, &kb) == 1)
			ret->virtual_bytes = kb * 1024;
		else if (sscanf(line, "VmRSS: %" SCNu64, &kb) == 1)
			ret->resident_bytes = kb * 1024;
		else if (sscanf(line, "RssAnon: %" SCNu64, &kb) == 1)
			ret->anonymous_bytes = kb * 1024;
		else if (sscanf(line, "RssFile: %" SCNu64, &kb) == 1)
			ret->file_bytes = kb * 1024;
		else if (sscanf(line, "VmSwap: %" SCNu64, &kb) == 1)
			ret->swapped_bytes = kb * 1024;
	}
	return ret->virtual_bytes != 0;
}

/* Counting the names takes the longer the more there are: 1 ms for 10,000. */
static void count_descriptors(const char *root, pid_t pid, struct vitals *ret)
{
	char *path CLEANUP(xfree_cleanup) =
		xasprintf("%s/proc/%d/fd", root, (int)pid);
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		ret->descriptors += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
}

uint64_t vitals_count_mappings(const char *root, pid_t pid)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "maps");
	uint64_t count = 0;
	char part[4096];
	size_t size;

	while (file && (size = fread(part, 1, sizeof(part), file)))
		for (size_t i = 0; i < size; i++)
			count += part[i] == '\n';
	return count;
}

/* Fields 10 and 12; behind the name, which may contain anything. */
static void read_faults(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "stat");
	char line[1024];
	const char *behind;

	if (!file || !fgets(line, sizeof(line), file))
		return;
	behind = strrchr(line, ')');
	if (!behind ||
	    sscanf(behind + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64,
		   &ret->minor_faults, &ret->major_faults) != 2)
		ret->minor_faults = ret->major_faults = 0;
}

static void read_machine(const char *root, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) =
		open_file(root, "/proc/meminfo");
	char line[256];
	uint64_t kb;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemTotal: %" SCNu64, &kb) == 1)
			ret->machine_bytes = kb * 1024;
}

/* ---- its cgroup ---- */

struct hierarchy {
	unsigned version;
	const char *mount;
	const char *limit;
	const char *usage;
	const char *events;
	const char *swap_limit;
	const char *swap_usage;
	const char *clean; /* these two of memory.stat: pages of files */
	const char *active;
};

static const struct hierarchy hierarchies[] = {
	{ 1, "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
	  "memory.usage_in_bytes", "memory.oom_control",
	  "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes",
	  "total_inactive_file", "total_active_file" },
	{ 2, "/sys/fs/cgroup", "memory.max", "memory.current", "memory.events",
	  "memory.swap.max", "memory.swap.current", "inactive_file",
	  "active_file" },
	{ 2, "/sys/fs/cgroup/unified", "memory.max", "memory.current",
	  "memory.events", "memory.swap.max", "memory.swap.current",
	  "inactive_file", "active_file" },
};

static bool read_number(const char *root, const char *directory,
			const char *name, uint64_t *ret)
{
	char *path CLEANUP(xfree_cleanup) = xasprintf("%s/%s", directory, name);
	FILE *file CLEANUP(file_close_cleanup) = open_file(root, path);

	return file && fscanf(file, "%" SCNu64, ret) == 1;
}

/* "oom_kill 3" among other lines. */
static bool find_kills(const char *root, const char *path, uint64_t *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_file(root, path);
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %" SCNu64, ret) == 1)
			return true;
	return false;
}

static void read_kills(const char *root, const char *directory,
		       const char *name, struct vitals *ret)
{
	char *path CLEANUP(xfree_cleanup) = xasprintf("%s/%s", directory, name);

	if (find_kills(root, path, &ret->oom_kills) &&
	    strlen(path) < sizeof(ret->kills_path))
		strcpy(ret->kills_path, path);
}

void vitals_read_kills(const char *root, struct vitals *vitals)
{
	if (*vitals->kills_path)
		(void)find_kills(root, vitals->kills_path, &vitals->oom_kills);
}

/* Lines "NAME NUMBER [kB]" of a file: that of one name, or 0. */
static uint64_t find_number(FILE *file, const char *name)
{
	char line[256];

	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		size_t n = strcspn(line, ": ");

		if (n == strlen(name) && !memcmp(line, name, n))
			return strtoull(line + n + 1, NULL, 10);
	}
	return 0;
}

/* What the kernel can write elsewhere, if there is a place for it. */
static uint64_t swap_room(const char *root, const struct hierarchy *hierarchy,
			  const char *directory)
{
	FILE *file CLEANUP(file_close_cleanup) =
		open_file(root, "/proc/meminfo");
	uint64_t room = file ? find_number(file, "SwapFree") * 1024 : 0;
	uint64_t limit, usage, swappiness;

	if (read_number(root, directory, "memory.swappiness", &swappiness) &&
	    !swappiness)
		return 0;
	if (room &&
	    read_number(root, directory, hierarchy->swap_limit, &limit) &&
	    read_number(root, directory, hierarchy->swap_usage, &usage) &&
	    limit < usage + room)
		room = limit > usage ? limit - usage : 0;
	return room;
}

/*
 * What the kernel can take back: pages of files. Of those that are in use not
 * all: the program would do nothing but fetch them again.
 */
static uint64_t file_room(const char *root, const struct hierarchy *hierarchy,
			  const char *directory)
{
	char *path CLEANUP(xfree_cleanup) =
		xasprintf("%s/memory.stat", directory);
	FILE *file CLEANUP(file_close_cleanup) = open_file(root, path);

	return file ? find_number(file, hierarchy->clean) +
			       find_number(file, hierarchy->active) / 2 :
		      0;
}

static void take_room(const char *root, const struct hierarchy *hierarchy,
		      const char *directory, uint64_t room, struct vitals *ret)
{
	room += file_room(root, hierarchy, directory) +
		swap_room(root, hierarchy, directory);
	if (room >= ret->room_bytes)
		return;
	ret->room_bytes = room;
	snprintf(ret->room_path, sizeof(ret->room_path), "%s", directory);
}

static void take_limit(const char *root, const struct hierarchy *hierarchy,
		       const char *directory, struct vitals *ret)
{
	uint64_t limit, usage = 0;

	if (!read_number(root, directory, hierarchy->limit, &limit) ||
	    limit >= NO_LIMIT)
		return;
	if (read_number(root, directory, hierarchy->usage, &usage))
		take_room(root, hierarchy, directory,
			  limit > usage ? limit - usage : 0, ret);
	if (ret->limit_bytes && ret->limit_bytes <= limit)
		return;
	ret->limit_bytes = limit;
	ret->cgroup_bytes = usage;
}

/* The groups from the process's own up to the root. */
static void climb(const char *root, const struct hierarchy *hierarchy,
		  const char *group, struct vitals *ret)
{
	const size_t mount = strlen(hierarchy->mount);
	char *directory CLEANUP(xfree_cleanup) =
		xasprintf("%s%s", hierarchy->mount,
			  strcmp(group, "/") ? group : "");

	read_kills(root, directory, hierarchy->events, ret);
	for (;;) {
		char *slash = strrchr(directory, '/');

		take_limit(root, hierarchy, directory, ret);
		if (strlen(directory) <= mount || !slash)
			return;
		*slash = '\0';
	}
}

/*
 * "4:memory:/group" (v1) or "0::/group" (v2; cgroups(7)). A container sees a
 * part of the tree only: groups that aren't there have no limit to tell.
 */
static void read_cgroup(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "cgroup");
	char line[4096 + 128];

	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'), *group;

		line[strcspn(line, "\n")] = '\0';
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
			unsigned version = hierarchies[i].version;

			if (version == 2 ? controllers[1] != '\0' :
					   !strstr(controllers + 1, "memory"))
				continue;
			if (!ret->cgroup_version || version == 1)
				ret->cgroup_version = version;
			climb(root, &hierarchies[i], group, ret);
		}
	}
}

void vitals_read_room(const char *root, pid_t pid, struct vitals *ret)
{
	*ret = (struct vitals){ .room_bytes = UINT64_MAX };
	read_cgroup(root, pid, ret);
}

int vitals_read(const char *root, pid_t pid, struct vitals *ret)
{
	*ret = (struct vitals){ .room_bytes = UINT64_MAX };
	if (!read_status(root, pid, ret))
		return -ERR_GONE;
	read_faults(root, pid, ret);
	count_descriptors(root, pid, ret);
	read_machine(root, ret);
	read_cgroup(root, pid, ret);
	return 0;
}
