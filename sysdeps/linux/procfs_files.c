/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/linux/newer_calls.h"
#include "sysdeps/linux/procfs.h"

/* Files that /proc leads to, and who is in it. */

void procfs_root(pid_t pid, char ret[PROCFS_PATH_ROOM])
{
	snprintf(ret, PROCFS_PATH_ROOM, "/proc/%d/root", (int)pid);
}

static int open_link(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd : errno == ENOENT ? -ERR_GONE : -errno;
}

int procfs_open_mapped(pid_t pid, const struct procfs_mapping *mapping)
{
	char path[PROCFS_PATH_ROOM];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)pid, mapping->start, mapping->end);
	return open_link(path);
}

void procfs_exe_link(pid_t pid, char ret[PROCFS_PATH_ROOM])
{
	snprintf(ret, PROCFS_PATH_ROOM, "/proc/%d/exe", (int)pid);
}

int procfs_open_exe(pid_t pid)
{
	char path[PROCFS_PATH_ROOM];

	procfs_exe_link(pid, path);
	return open_link(path);
}

bool procfs_exe_mode(pid_t pid, unsigned *ret)
{
	char path[PROCFS_PATH_ROOM];
	struct statx st;

	procfs_exe_link(pid, path);
	if (statx_anyhow(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_MODE, &st))
		return false;
	*ret = st.stx_mode;
	return true;
}

int procfs_processes(pid_t **ret, size_t *count_ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t *pids = NULL;
	size_t count = 0, room = 0;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end || pid <= 0 || pid > INT_MAX)
			continue;
		pids = xgrow(pids, count, &room, sizeof(*pids));
		pids[count++] = pid;
	}
	closedir(proc);
	*ret = pids;
	*count_ret = count;
	return 0;
}

static int read_number(const char *path, int otherwise)
{
	FILE *file = fopen(path, "re");
	int number;

	if (!file)
		return otherwise;
	if (fscanf(file, "%d", &number) != 1)
		number = otherwise;
	fclose(file);
	return number;
}

int procfs_ptrace_scope(void)
{
	return read_number("/proc/sys/kernel/yama/ptrace_scope", -1);
}

size_t procfs_max_mappings(void)
{
	int number = read_number("/proc/sys/vm/max_map_count", -1);

	return number < 0 ? SIZE_MAX : (size_t)number;
}

bool procfs_has_userfaultfd(pid_t pid)
{
	int *fds CLEANUP(xfree_cleanup) = NULL;
	size_t count = 0;

	if (procfs_descriptors(pid, &fds, &count))
		return true;
	for (size_t i = 0; i < count; i++) {
		char path[PROCFS_PATH_ROOM], link[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid,
			 fds[i]);
		if (readlink(path, link, sizeof(link) - 1) > 0 &&
		    strstr(link, "[userfaultfd]"))
			return true;
	}
	return false;
}
