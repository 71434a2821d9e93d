/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swarm N: says "ready", and makes N children for "g" on standard input, all of
 * which live and call f1 now and then until "q" comes; so does it itself. Ends
 * with status 7, or 1 when one of them has died. "g" may come again: those that
 * live are ended, and others made.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

long f1(long i);

static int ends[2];

/* The parent says that it is over by closing its end. */
static void live(void)
{
	struct pollfd pollfd = { .fd = ends[0], .events = POLLIN };
	int bad = 0;

	close(ends[1]);
	do
		bad += f1(1) != 2;
	while (poll(&pollfd, 1, 500) == 0);
	bad += f1(1) != 2;
	_exit(bad ? 1 : 3);
}

static int make(int count)
{
	int i;

	if (pipe(ends))
		exit(2);
	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid)
			live();
		if (pid < 0)
			break;
	}
	close(ends[0]);
	return i;
}

/* Returns how many have died. */
static int collect(int count)
{
	int wrong = 0;

	close(ends[1]);
	while (count--) {
		int status;

		if (wait(&status) < 0 || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 3)
			wrong++;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, living = 0, dead = 0;
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char letter = 0;

	puts("ready");
	fflush(stdout);
	while (letter != 'q') {
		f1(1);
		if (poll(&input, 1, 5) != 1)
			continue;
		if (read(0, &letter, 1) != 1)
			break;
		if (living)
			dead += collect(living);
		living = letter == 'g' ? make(count) : 0;
		printf("%d live, %d have died\n", living, dead);
		fflush(stdout);
	}
	return dead ? 1 : 7;
}
