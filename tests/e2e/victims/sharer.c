/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sharer: has a child that runs in its memory, whose number it says; both call
 * f1, until its standard input ends or a line comes. Status 7 if the child has
 * ended as it should.
 */

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long f1(long i);

static volatile int over;

/* Its wait leaves errno alone, which is the parent's, too. */
static int child(void *unused)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (!over) {
		f1(1);
		syscall(SYS_nanosleep, &pause, NULL);
	}
	_exit(3);
	return unused != NULL;
}

int main(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	struct pollfd input = { .fd = 0, .events = POLLIN };
	int pid = clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	int status = 0;

	if (pid < 0)
		return 1;
	printf("%d\n", pid);
	fflush(stdout);
	while (poll(&input, 1, 1) == 0)
		f1(2);
	over = 1;
	if (waitpid(pid, &status, 0) != pid || status != 3 << 8)
		return 1;
	return 7;
}
