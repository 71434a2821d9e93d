/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lender: makes one vfork child after the other, each of which sleeps for a moment,
 * calls labs() and ends; every 32nd time it calls labs() itself. "q" ends it, with
 * status 7.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void make_child(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	const pid_t pid = vfork();

	if (!pid) {
		nanosleep(&moment, NULL);
		_exit((int)labs(3));
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	puts("ready");
	fflush(stdout);
	for (long i = 1; !poll(&input, 1, 0); i++) {
		make_child();
		if (i % 32 == 0 && labs(i) != i)
			return 1;
	}
	return 7;
}
