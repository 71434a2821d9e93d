/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces the process of its argument, until its standard input ends. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;

	if (argc < 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0)) {
		perror("PTRACE_SEIZE");
		return 1;
	}
	printf("tracing\n");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
