/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that has forbidden to be traced. */

#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	char byte;

	prctl(PR_SET_DUMPABLE, 0);
	printf("ready\n");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
