/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_stubs_kept CALLS: built with -fno-plt, and with keeps.c as a library. When a line
 * has come both call labs() so often. Ends at the next line: 7 = all were right.
 */
#include <stdio.h>
#include <stdlib.h>

void keep(void);
int keeps(long n);

static int wait_for_line(const char *what)
{
	char line[64];

	printf("%s\n", what);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 1;
	long wrong = 0;

	keep();
	if (!wait_for_line("ready"))
		return 2;
	for (long i = 0; i < calls; i++)
		wrong += labs(-i) != i || !keeps(i);
	if (!wait_for_line("done"))
		return 2;
	return wrong ? 9 : 7;
}
