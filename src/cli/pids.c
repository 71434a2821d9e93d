/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pids.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "sysdeps/linux/process_name.h"

#define SEPARATORS ", \t\n"

static void add(struct options *options, pid_t pid)
{
	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return;
	options->pids = xreallocarray(options->pids, options->pid_count + 1,
				      sizeof(*options->pids));
	options->pids[options->pid_count++] = pid;
}

static int add_one(struct options *options, const char *text, size_t length)
{
	CLEANUP(xfree_cleanup) char *word = xstrndup(text, length);
	long pid;
	char *end;

	errno = 0;
	pid = strtol(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || errno || pid < 1 ||
	    pid > INT_MAX)
		return complain(-EINVAL,
				"-p '%s': not a process id; for a "
				"process's name use --name",
				word);
	add(options, pid);
	return 0;
}

int pids_add_list(struct options *options, const char *list)
{
	bool is_empty = true;

	for (const char *s = list; *(s += strspn(s, SEPARATORS));) {
		size_t length = strcspn(s, SEPARATORS);
		int err = add_one(options, s, length);

		if (err)
			return err;
		is_empty = false;
		s += length;
	}
	if (is_empty)
		return complain(-EINVAL, "-p '%s': a process id is missing",
				list);
	return 0;
}

int pids_add_named(struct options *options, const char *name)
{
	CLEANUP(xfree_cleanup) pid_t *pids = NULL;
	long count = processes_named(name, &pids);

	if (count < 0)
		return complain(-ESRCH,
				"--name '%s': /proc can't be read: "
				"%s",
				name, strerror(-count));
	if (!count)
		return complain(-ESRCH,
				"--name '%s': no process of that name "
				"is running",
				name);
	for (long i = 0; i < count; i++)
		add(options, pids[i]);
	return 0;
}
