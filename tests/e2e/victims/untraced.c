/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each letter on standard input makes a child with CLONE_UNTRACED that
 * calls f2 ten times: "c" with a copy of the memory, "s" one that shares it.
 * Ends for "q", with 7 if all children have ended as they should.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

long f2(long i);

#define STACK 65536

static int child(void *argument)
{
	int bad = argument != &f2;

	for (int i = 0; i < 10; i++)
		bad += f2(i) != i + 1;
	return bad ? 1 : 3;
}

static int make_child(int flags, char *stack)
{
	int status = -1;
	pid_t pid = clone(child, stack + STACK,
			  flags | CLONE_UNTRACED | SIGCHLD, &f2);

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("status %x\n", status);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 3;
}

int main(void)
{
	char *stack = malloc(STACK), letter;
	int wrong = 0;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &letter, 1) == 1 && letter != 'q') {
		if (letter == 'c' || letter == 's')
			wrong += make_child(letter == 's' ? CLONE_VM : 0,
					    stack);
		f2(0);
		printf("done\n");
		fflush(stdout);
	}
	return wrong ? 1 : 7;
}
