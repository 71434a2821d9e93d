/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth ROUNDS SHORT MICRO LONG SLEEP: calls in each round so many functions of some 50
 * ns, 1 us, 600 us, and that sleep for 1 ms; says how often and how long, in
 * nanoseconds, by its own clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long truth_short(long loops);
long truth_micro(long loops);
long truth_long(long loops);
long truth_sleep(long ns);
long truth_took(int which);
long truth_calls(int which);

static double loops_in_ns(void)
{
	long best = 1000000000, i, ns;

	for (i = 0; i < 200; i++) {
		struct timespec begin, end;
		volatile long k;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (k = 0; k < 20000; k++)
			;
		clock_gettime(CLOCK_MONOTONIC, &end);
		ns = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec -
		     begin.tv_nsec;
		if (ns < best)
			best = ns;
	}
	return 20000.0 / (double)best;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "short", "micro", "long",
					     "sleep" };
	const double each = loops_in_ns();
	long counts[5] = { 0 }, round, i;

	for (i = 0; i < 5 && i + 1 < argc; i++)
		counts[i] = atol(argv[i + 1]);
	for (round = 0; round < counts[0]; round++) {
		for (i = 0; i < counts[1]; i++)
			truth_short((long)(25 * each));
		for (i = 0; i < counts[2]; i++)
			truth_micro((long)(1000 * each));
		for (i = 0; i < counts[3]; i++)
			truth_long((long)(600000 * each));
		for (i = 0; i < counts[4]; i++)
			truth_sleep(1000000);
	}
	for (i = 0; i < 4; i++)
		printf("truth_%s %ld %ld\n", names[i], truth_calls((int)i),
		       truth_took((int)i));
	return 0;
}
