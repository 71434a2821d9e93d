/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls f1 all the time; for "g" on standard input forks five children that
 * call f2 ten times each and end with status 3; ends for "q".
 */

#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

static int wrong;

static void child(void)
{
	int bad = 0;

	for (int i = 0; i < 10; i++)
		bad += f2(i) != i + 1;
	_exit(bad ? 1 : 3);
}

static void children(void)
{
	for (int i = 0; i < 5; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			child();
		waitpid(pid, &status, 0);
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	printf("done\n");
	fflush(stdout);
}

int main(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char letter = 0;

	printf("ready\n");
	fflush(stdout);
	for (long i = 0; letter != 'q'; i++) {
		wrong += f1(i) != i + 1;
		if (poll(&input, 1, 1) == 1 && read(0, &letter, 1) == 1 &&
		    letter == 'g')
			children();
	}
	return wrong ? 1 : 7;
}
