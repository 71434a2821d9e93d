/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/last_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A pipe tells each end that the other one was closed, by a signal, to whom and
 * which one likes (F_SETOWN, F_SETSIG). Of a process that ends the kernel
 * closes one end first, whichever: so either is told.
 */
int last_signal_init(struct last_signal *last, int signal)
{
	int i;

	last->pid = 0;
	if (pipe2(last->ends, O_CLOEXEC))
		return -errno;
	for (i = 0; i < 2; i++) {
		int flags = fcntl(last->ends[i], F_GETFL);

		(void)fcntl(last->ends[i], F_SETSIG, signal);
		(void)fcntl(last->ends[i], F_SETFL, flags | O_ASYNC);
	}
	return 0;
}

void last_signal_promise(struct last_signal *last, pid_t pid)
{
	last->pid = pid;
	(void)fcntl(last->ends[0], F_SETOWN, pid);
	(void)fcntl(last->ends[1], F_SETOWN, pid);
}
