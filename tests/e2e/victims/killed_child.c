/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls ident() every 10 ms until a line comes; with another one it makes a child that
 * does so 100 times. Ends as that one does: with 7 if it lives, and all was right.
 */

#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ident.h"

static int call_once(void)
{
	const long x = 0x123456780000000;
	const int wrong = ident(x) != x;

	usleep(10000);
	return wrong;
}

static void await_line(const char *what)
{
	char line[16];

	puts(what);
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		_exit(1);
}

static int make_calls(void)
{
	int i, wrong = 0;

	for (i = 0; i < 100; i++)
		wrong += call_once();
	return wrong ? 9 : 7;
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int status;
	pid_t child;

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) <= 0)
		call_once();
	await_line("over");
	await_line("quiet");
	child = fork();
	if (!child)
		_exit(make_calls());
	if (waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
