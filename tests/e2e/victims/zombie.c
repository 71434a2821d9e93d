/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the pid of a dead child that it doesn't wait for. */

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	siginfo_t info;
	char byte;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	printf("zombie %d\n", pid);
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
