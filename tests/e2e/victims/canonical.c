/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked to a fixed address, strcoll's is that of the program's own stub: the C library
 * comes there by pointer, too. The argument says how often. Says how many calls are
 * the program's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int comparison(const void *, const void *);

static int (*volatile by_pointer)(const char *, const char *) = strcoll;

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	long own = 0, right = 0;

	for (long i = 0; i < rounds; i++) {
		char words[5][8] = { "e", "d", "c", "b", "a" };

		qsort(words, 5, sizeof(words[0]), (comparison *)strcoll);
		right += strcoll(words[0], words[1]) < 0;
		right += by_pointer(words[2], words[3]) < 0;
		own += 2;
	}
	printf("own %ld, %s\n", own, right == own ? "right" : "wrong");
	return 0;
}
