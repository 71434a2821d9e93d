/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FREEZE_H
#define CALLTRAP_FREEZE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/arch.h"
#include "tracee/stop.h"

/* A process of which no task runs: its memory is that of one instant. */
struct frozen_task {
	pid_t tid;
	struct stop stop;
	bool stopped; /* else it is in the kernel, and can't come out */
	bool known;   /* its registers are */
	struct regs regs;
	struct fp_regs fp;
};

struct freeze {
	struct frozen_task *tasks;
	size_t count, room;
	uint64_t since; /* monotonic; when the first was asked to stop */
};

/* What who makes a copy of a process (copy.h) is called. */
#define FREEZE_COPIER "memory-copy"

/*
 * Stops all tasks. When that can't be, nothing is stopped any more, and
 * message_ret (to be freed) says why. Another look at the process is waited for,
 * for some time.
 */
int freeze_begin(pid_t pid, struct freeze *ret, char **message_ret) MUST_CHECK;

/*
 * Lets all of them go on as they were: waits are waited on, signals that came
 * meanwhile delivered. Returns how long they were kept, in nanoseconds.
 */
uint64_t freeze_end(struct freeze *freeze);

void freeze_fini(struct freeze *freeze);

#endif
