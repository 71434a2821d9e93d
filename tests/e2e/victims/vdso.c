/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: vdso CALLS
 *
 * Calls gettimeofday(), whose slot leads to code of the kernel's. Waits for a line
 * before and after, and ends with 7; with 8, if one has failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static void wait_for_line(const char *words)
{
	char line[16];

	puts(words);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(9);
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 0;
	struct timeval now;
	long i, failed = 0;

	wait_for_line("ready");
	for (i = 0; i < calls; i++)
		failed |= gettimeofday(&now, NULL);
	printf("made %ld\n", calls);
	wait_for_line("done");
	return failed ? 8 : 7;
}
