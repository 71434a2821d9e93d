/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mixed_stubs ROUNDS: calls by stubs what its library (mixed_stubs_rare.c) calls without,
 * in one of 50 rounds, when a line has come: memcpy() and memmove(), which may be one
 * function; realloc(), which calls memcpy() itself; malloc(), free() and read(). Ends
 * at the next line: 7 = all were right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rare(void);

static int copies(void)
{
	char from[32] = "some text", to[32];

	memcpy(to, from, sizeof(to));
	memmove(from, to, sizeof(from));
	return from[5] == 't';
}

static int grows(void)
{
	char *block = malloc(2000), *in_its_way = malloc(1500), *larger;
	int right;

	block[1999] = 17;
	larger = realloc(block, 100000);
	right = larger && larger[1999] == 17;
	free(larger);
	free(in_its_way);
	return right;
}

static int fails(void)
{
	char byte;

	return read(-1, &byte, 1) == -1 && errno == EBADF;
}

static void wait_for_line(const char *what)
{
	char line[64];

	printf("%s\n", what);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	long wrong = 0;

	wait_for_line("ready");
	for (long i = 0; i < rounds; i++)
		wrong += !copies() || !grows() || !fails() ||
			 (i % 50 == 7 && !rare());
	wait_for_line("done");
	return wrong ? 9 : 7;
}
