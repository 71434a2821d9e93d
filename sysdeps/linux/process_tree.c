/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/process_tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

struct process {
	pid_t pid, parent;
};

/* 0: it is gone, or has ended. "PID (NAME) STATE PARENT …" of proc(5): the name
   may contain anything. */
static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	FILE *file CLEANUP(file_close_cleanup) = NULL;
	const char *behind;
	char state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	behind = strrchr(line, ')');
	if (!behind || sscanf(behind + 1, " %c %d", &state, &parent) != 2 ||
	    strchr("ZXx", state))
		return 0;
	return parent;
}

static bool is_of_this_program(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return !stat("/proc/self/exe", &own) && !stat(path, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static size_t read_all(const pid_t *pids, size_t count, struct process *ret)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		pid_t parent = parent_of(pids[i]);

		if (parent > 0)
			ret[used++] = (struct process){ pids[i], parent };
	}
	return used;
}

/* Takes the children of one out of those that are left. */
static size_t take_children(pid_t parent, struct process *all, size_t *count,
			    pid_t *ret)
{
	size_t found = 0, kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (all[i].parent != parent)
			all[kept++] = all[i];
		else if (!is_of_this_program(all[i].pid))
			ret[found++] = all[i].pid;
	}
	*count = kept;
	return found;
}

long processes_below(pid_t parent, pid_t **pids_ret)
{
	pid_t *pids CLEANUP(xfree_cleanup) = NULL, *below;
	struct process *all CLEANUP(xfree_cleanup) = NULL;
	size_t count, found, next = 0;
	int err = procfs_processes(&pids, &count);

	if (err)
		return err;
	all = xcalloc(count + 1, sizeof(*all));
	below = xcalloc(count + 1, sizeof(*below));
	count = read_all(pids, count, all);
	found = take_children(parent, all, &count, below);
	while (next < found) {
		pid_t each = below[next++];

		found += take_children(each, all, &count, below + found);
	}
	*pids_ret = below;
	return found;
}
