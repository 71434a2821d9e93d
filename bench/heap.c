/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap DEPTH PAIRS KEPT: so many malloc() and free(), called so deep, then so
 * many blocks that are kept. Prints nanoseconds per pair.
 *
 * heap sites DEPTH: 2^DEPTH stacks, each of which acquires and gives back eight
 * blocks.
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

__attribute__((noinline)) static void branch(int depth)
{
	if (depth) {
		branch(depth - 1);
		__asm__ volatile("");
		branch(depth - 1);
		__asm__ volatile("");
		return;
	}
	for (int i = 0; i < 8; i++) {
		volatile char *p = malloc(1 + i * 300);

		*p = 1;
		free((void *)p);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sites")) {
		branch(atoi(argv[2]));
		return 0;
	}
	if (argc != 4)
		return 2;
	dive(atoi(argv[1]), atol(argv[2]), atol(argv[3]));
	return 0;
}
