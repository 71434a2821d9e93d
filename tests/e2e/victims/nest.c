/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nest CALLS: outer() calls inner() so often, 30 frames deep; inner() computes
 * for some microseconds. Prints how many microseconds outer() took by its own
 * clock, stops for a tracer included, and for how many it had a processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sum;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

__attribute__((noinline)) void inner(void)
{
	for (int i = 0; i < 10000; i++)
		/* Memory alone is no delay where processors rename it. */
		sum = (sum * 5 ^ i) * 7;
}

__attribute__((noinline)) static void dive(int depth)
{
	if (depth)
		dive(depth - 1);
	else
		inner();
	__asm__ volatile("");
}

__attribute__((noinline)) void outer(int calls)
{
	for (int i = 0; i < calls; i++)
		dive(30);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double begin = now(CLOCK_MONOTONIC);
	double ran = now(CLOCK_PROCESS_CPUTIME_ID);

	outer(argc > 1 ? atoi(argv[1]) : 0);
	printf("took %.0f\n", now(CLOCK_MONOTONIC) - begin);
	printf("ran %.0f\n", now(CLOCK_PROCESS_CPUTIME_ID) - ran);
	return 0;
}
