/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/sharers.h"

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
	if (attach_seize(sharer))
		diag_debug(DIAG_SESSION,
			   "process %d, which shares memory with %d, can't be "
			   "traced",
			   (int)pid, (int)tracee->pid);
	/* Some of its threads may be ours all the same. */
	if (!sharer->tasks)
		tracee_free(tracer, sharer);
}

void sharers_seize(struct tracee *tracee)
{
	struct space *space = tracee->space;
	pid_t *pids CLEANUP(xfree_cleanup) = NULL;
	size_t count = 0;

	if (procfs_processes(&pids, &count))
		return;
	for (size_t i = 0; i < count; i++)
		if (!tracee_find(space->tracer, pids[i]) &&
		    procfs_same_space(space->memory.pid, pids[i]) > 0)
			seize_sharer(tracee, pids[i]);
}
