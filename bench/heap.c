/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap DEPTH PAIRS KEPT: so many malloc() and free(), called so deep, then so
 * many blocks that are kept. Prints nanoseconds per pair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void work(long pairs, long kept)
{
	double begin = now();

	for (long i = 0; i < pairs; i++) {
		volatile char *p = malloc(1 + i % 1000);

		*p = 1;
		free((void *)p);
	}
	printf("%f\n", pairs ? (now() - begin) / pairs : 0);
	fflush(stdout);
	for (long i = 0; i < kept; i++) {
		volatile char *p = malloc(16);

		*p = 1;
	}
}

__attribute__((noinline)) static void dive(int depth, long pairs, long kept)
{
	if (depth > 1)
		dive(depth - 1, pairs, kept);
	else
		work(pairs, kept);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	dive(atoi(argv[1]), atol(argv[2]), atol(argv[3]));
	return 0;
}
