/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/process_name.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

/* What the kernel keeps of a name, without the NUL. */
#define COMM_MAX 15

/* The beginning of a file of /proc/PID as a string; "" if unreadable. */
static size_t read_file(pid_t pid, const char *file, char *ret, size_t room)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, ret, room - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	ret[n] = '\0';
	return n;
}

/*
 * The kernel's name of a process that is alive, or NULL. In the text of stat,
 * "PID (NAME) STATE …", the name itself may contain anything.
 */
static char *comm_in_stat(char *stat)
{
	char *start = strchr(stat, '(');
	char *end = strrchr(stat, ')');

	if (!start || !end || end < start || end[1] != ' ')
		return NULL;
	if (strchr("ZXx", end[2]))
		return NULL;
	*end = '\0';
	return start + 1;
}

static bool program_is(pid_t pid, const char *name)
{
	static const char deleted[] = " (deleted)";
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	if (n > (ssize_t)strlen(deleted) &&
	    !strcmp(target + n - strlen(deleted), deleted))
		target[n - strlen(deleted)] = '\0';
	return !strcmp(file_base_name(target), name);
}

/*
 * A script's own name is its interpreter's first argument; that counts only
 * when the kernel's name, which is cut off, begins so too.
 */
static bool arguments_say(pid_t pid, const char *comm, const char *name)
{
	char arguments[2 * PATH_MAX];
	size_t n = read_file(pid, "cmdline", arguments, sizeof(arguments));
	size_t zeroth = strlen(arguments);

	if (!strcmp(file_base_name(arguments), name))
		return true;
	return zeroth < n && strlen(comm) == COMM_MAX &&
	       !strncmp(comm, name, COMM_MAX) &&
	       !strcmp(file_base_name(arguments + zeroth + 1), name);
}

static bool is_named(pid_t pid, const char *name)
{
	char stat[512];
	const char *comm;

	read_file(pid, "stat", stat, sizeof(stat));
	comm = comm_in_stat(stat);
	return comm && (!strcmp(comm, name) || program_is(pid, name) ||
			arguments_say(pid, comm, name));
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

long processes_named(const char *name, pid_t **pids_ret)
{
	size_t all, count = 0;
	pid_t *pids;
	int err = procfs_processes(&pids, &all);

	if (err)
		return err;
	for (size_t i = 0; i < all; i++)
		if (pids[i] != getpid() && is_named(pids[i], name))
			pids[count++] = pids[i];
	if (count)
		qsort(pids, count, sizeof(*pids), compare_pids);
	*pids_ret = pids;
	return count;
}
