/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/vitals.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/cgroup_folder.h"

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
static void read_status_line(const char *line, struct vitals *ret)
{
	const struct {
		const char *key;
		uint64_t *value;
		unsigned unit;
	} values[] = {
		{ "Threads:", &ret->threads, 1 },
		{ "VmSize:", &ret->virtual_bytes, 1024 },
		{ "VmRSS:", &ret->resident_bytes, 1024 },
		{ "RssAnon:", &ret->anonymous_bytes, 1024 },
		{ "RssFile:", &ret->file_bytes, 1024 },
		{ "VmSwap:", &ret->swapped_bytes, 1024 },
	};
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		size = strlen(values[i].key);
		if (!strncmp(line, values[i].key, size))
			*values[i].value = strtoull(line + size, NULL, 10) *
					   values[i].unit;
	}
}

static bool read_status(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "status");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		read_status_line(line, ret);
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

/* The two aren't of one moment. */
uint64_t vitals_resident(const struct vitals *vitals)
{
	return vitals->resident_bytes > vitals->own_bytes ?
		       vitals->resident_bytes - vitals->own_bytes :
		       0;
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
/* Since the machine was started. */
static uint64_t read_uptime(const char *root)
{
	FILE *file CLEANUP(file_close_cleanup) =
		open_file(root, "/proc/uptime");
	double seconds = 0;

	if (!file || fscanf(file, "%lf", &seconds) != 1 || !(seconds > 0))
		return 0;
	return seconds * 1e9;
}

static uint64_t of_ticks(uint64_t ticks)
{
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* See proc(5), /proc/pid/stat. */
static void read_stat(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "stat");
	uint64_t user = 0, system = 0, start = 0, uptime;
	char line[1024];
	const char *behind;
	int count;

	if (!file || !fgets(line, sizeof(line), file))
		return;
	behind = strrchr(line, ')');
	if (!behind)
		return;
	count = sscanf(behind + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
		       " %*u %" SCNu64 " %" SCNu64
		       " %*d %*d %*d %*d %*d %*d %" SCNu64,
		       &ret->minor_faults, &ret->major_faults, &user, &system,
		       &start);
	if (count < 2)
		ret->minor_faults = ret->major_faults = 0;
	uptime = count == 5 ? read_uptime(root) : 0;
	if (uptime <= of_ticks(start))
		return;
	ret->age_ns = uptime - of_ticks(start);
	ret->processor_ns = of_ticks(user + system);
}

/* Bytes of the line that begins so; 0 where there is none. */
static uint64_t read_meminfo(const char *root, const char *name)
{
	FILE *file CLEANUP(file_close_cleanup) =
		open_file(root, "/proc/meminfo");
	const size_t length = strlen(name);
	char line[256];
	uint64_t kb;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) &&
		    sscanf(line + length, ": %" SCNu64, &kb) == 1)
			return kb * 1024;
	return 0;
}

uint64_t vitals_available_bytes(const char *root)
{
	return read_meminfo(root, "MemAvailable");
}

/* ---- its cgroup ---- */

/* What the two versions call the files of a group, and lines in them. */
struct file_names {
	const char *limit;
	const char *usage;
	const char *events;
	const char *swap_limit;
	const char *swap_usage;
	const char *clean; /* these two of memory.stat: pages of files */
	const char *active;
};

static const struct file_names version_names[] = {
	[1] = { "memory.limit_in_bytes", "memory.usage_in_bytes",
		"memory.oom_control", "memory.memsw.limit_in_bytes",
		"memory.memsw.usage_in_bytes", "total_inactive_file",
		"total_active_file" },
	[2] = { "memory.max", "memory.current", "memory.events",
		"memory.swap.max", "memory.swap.current", "inactive_file",
		"active_file" },
};

/* A group whose files are read. */
struct vitals_cgroup {
	const char *root;
	const struct file_names *names;
	struct cgroup_folder folder;
};

static bool read_number(const struct vitals_cgroup *group, const char *name,
			uint64_t *ret)
{
	FILE *file CLEANUP(file_close_cleanup) =
		cgroup_folder_open(&group->folder, group->root, name);

	return file && fscanf(file, "%" SCNu64, ret) == 1;
}

/* "oom_kill 3" among other lines. */
static bool find_kills(FILE *file, uint64_t *ret)
{
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %" SCNu64, ret) == 1)
			return true;
	return false;
}

/* What is seen through the process itself goes with it. */
static void read_kills(const struct vitals_cgroup *group, struct vitals *ret)
{
	const char *name = group->names->events;
	FILE *file CLEANUP(file_close_cleanup) =
		cgroup_folder_open(&group->folder, group->root, name);
	char *path CLEANUP(xfree_cleanup) =
		xasprintf("%s/%s", group->folder.path, name);

	if (find_kills(file, &ret->oom_kills) && !group->folder.seer &&
	    strlen(path) < sizeof(ret->kills_path))
		strcpy(ret->kills_path, path);
}

void vitals_read_kills(const char *root, struct vitals *vitals)
{
	FILE *file CLEANUP(file_close_cleanup) = NULL;

	if (!*vitals->kills_path)
		return;
	file = open_file(root, vitals->kills_path);
	(void)find_kills(file, &vitals->oom_kills);
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
static uint64_t swap_room(const struct vitals_cgroup *group)
{
	FILE *file CLEANUP(file_close_cleanup) =
		open_file(group->root, "/proc/meminfo");
	uint64_t room = file ? find_number(file, "SwapFree") * 1024 : 0;
	uint64_t limit, usage, swappiness;

	if (read_number(group, "memory.swappiness", &swappiness) && !swappiness)
		return 0;
	if (room && read_number(group, group->names->swap_limit, &limit) &&
	    read_number(group, group->names->swap_usage, &usage) &&
	    limit < usage + room)
		room = limit > usage ? limit - usage : 0;
	return room;
}

/*
 * What the kernel can take back: pages of files. Of those that are in use not
 * all: the program would do nothing but fetch them again.
 */
static uint64_t file_room(const struct vitals_cgroup *group)
{
	FILE *file CLEANUP(file_close_cleanup) =
		cgroup_folder_open(&group->folder, group->root, "memory.stat");

	return file ? find_number(file, group->names->clean) +
			       find_number(file, group->names->active) / 2 :
		      0;
}

static void take_room(const struct vitals_cgroup *group, uint64_t room,
		      struct vitals *ret)
{
	char seer[32] = "";

	room += file_room(group) + swap_room(group);
	if (room >= ret->room_bytes)
		return;
	ret->room_bytes = room;
	if (group->folder.seer)
		snprintf(seer, sizeof(seer), "/proc/%d/root",
			 (int)group->folder.seer);
	snprintf(ret->room_path, sizeof(ret->room_path), "%s%s", seer,
		 group->folder.path);
}

static void take_limit(const struct vitals_cgroup *group, struct vitals *ret)
{
	uint64_t limit, usage = 0;

	if (!read_number(group, group->names->limit, &limit) ||
	    limit >= NO_LIMIT)
		return;
	if (read_number(group, group->names->usage, &usage))
		take_room(group, limit > usage ? limit - usage : 0, ret);
	if (ret->limit_bytes && ret->limit_bytes <= limit)
		return;
	ret->limit_bytes = limit;
	ret->cgroup_bytes = usage;
}

/* The groups from the process's own up to the root, or what we see of it. */
static void climb(struct vitals_cgroup *group, struct vitals *ret)
{
	read_kills(group, ret);
	do
		take_limit(group, ret);
	while (cgroup_folder_go_up(&group->folder));
}

static void read_group(const char *root, pid_t pid, unsigned version,
		       const char *name, struct vitals *ret)
{
	struct vitals_cgroup group = { root, &version_names[version], { 0 } };

	if (cgroup_folder_find(&group.folder, root, pid, version, name)) {
		ret->cgroup_version = version;
		climb(&group, ret);
	}
	cgroup_folder_free(&group.folder);
}

/*
 * "4:memory:/group" (v1) or "0::/group" (v2; cgroups(7)). Where v1 has the
 * memory, v2, whose line is the last, knows nothing of it.
 */
static void read_cgroup(const char *root, pid_t pid, struct vitals *ret)
{
	FILE *file CLEANUP(file_close_cleanup) = open_of(root, pid, "cgroup");
	char line[4096 + 128];
	bool first = false;

	while (file && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':'), *group;

		line[strcspn(line, "\n")] = '\0';
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		if (strstr(controllers + 1, "memory")) {
			first = true;
			read_group(root, pid, 1, group, ret);
		} else if (!controllers[1] && !first) {
			read_group(root, pid, 2, group, ret);
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
	read_stat(root, pid, ret);
	count_descriptors(root, pid, ret);
	ret->machine_bytes = read_meminfo(root, "MemTotal");
	read_cgroup(root, pid, ret);
	return 0;
}
