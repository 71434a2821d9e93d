/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cutter LIBRARY: calls labs() and qsort() until a line comes, loads the library
 * within a call of the latter, and makes some more. Says how many calls there were,
 * and ends with 7.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *library;
static long made, sorted, loaded;

static void count(void)
{
	long i;

	for (i = 0; i < 2000; i++)
		made += labs(-i) == i;
}

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	count();
	if (loaded == 1 && !dlopen(library, RTLD_NOW))
		_exit(2);
	count();
	return 0;
}

static int wait_for_line(void)
{
	char byte = 0;

	while (byte != '\n')
		if (read(0, &byte, 1) != 1)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct pollfd input = { 0, POLLIN, 0 };
	char two[2] = { 1, 2 };

	library = argv[argc - 1];
	puts("ready");
	fflush(stdout);
	wait_for_line();
	while (loaded < 10) {
		if (loaded || poll(&input, 1, 10) == 1)
			loaded++;
		if (loaded == 1)
			wait_for_line();
		sorted++;
		qsort(two, 2, 1, compare);
	}
	puts("done");
	fflush(stdout);
	wait_for_line();
	printf("count labs %ld\ncount qsort %ld\n", made, sorted);
	return 7;
}
