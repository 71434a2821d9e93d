/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/sharers.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/diag.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/attach.h"

static void seize_sharer(struct tracee *tracee, pid_t pid)
{
	struct tracer *tracer = tracee->space->tracer;
	struct tracee *sharer =
		tracee_new(tracer, pid, space_get(tracee->space));

	sharer->muted = !tracer->follow;
	sharer->borrows = true;
	if (!attach_seize(sharer) && sharer->tasks)
		return;
	diag_debug(DIAG_SESSION, "process %d, which shares memory with %d, "
				 "can't be traced",
		   (int)pid, (int)tracee->pid);
	tracee_free(tracer, sharer);
}

void sharers_seize(struct tracee *tracee)
{
	struct space *space = tracee->space;
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && !tracee_find(space->tracer, pid) &&
		    procfs_same_space(space->memory.pid, pid) > 0)
			seize_sharer(tracee, pid);
	}
	if (dir)
		closedir(dir);
}
