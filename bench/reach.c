/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reach.py measures: reach number|text|deep SECONDS calls in bursts, and prints
 * the nanoseconds of a call in the shortest; reach rate THREADS CALLS prints the
 * processor seconds that these took; reach pauses THREADS SECONDS prints the longest
 * time, in ms, that any thread didn't run, and the median of all threads' longest.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURST       400
#define THREADS_MAX 256

static long each;
static double until;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static __attribute__((noinline)) double burst(int with_text)
{
	static const char text[] = "a text of some length";
	volatile long sum = 0;
	const double begun = now();

	for (int i = 0; i < BURST; i++)
		sum += with_text ? (long)strlen(text) : labs(-i);
	return (now() - begun) / BURST;
}

static __attribute__((noinline)) double deep(int depth)
{
	volatile char here = (char)depth;
	const double result = depth ? deep(depth - 1) : burst(0);

	here++;
	return result;
}

static int shortest(const char *kind, double seconds)
{
	double least = 1e18;

	for (until = now() + seconds * 1e9; now() < until;) {
		const double one = !strcmp(kind, "deep") ?
					   deep(18) :
					   burst(!strcmp(kind, "text"));

		least = one < least ? one : least;
	}
	printf("%.1f\n", least);
	return 0;
}

static void *call(void *unused)
{
	volatile long sum = 0;

	for (long i = 0; i < each; i++)
		sum += labs(-i);
	return unused;
}

static void *look(void *longest)
{
	volatile long sum = 0;
	double before = now(), most = 0;

	while (before < until) {
		const double begun = before;

		sum += labs((long)-begun);
		before = now();
		most = before - begun > most ? before - begun : most;
	}
	*(double *)longest = most;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

static void all(int threads, void *(*begin)(void *), double *longest)
{
	pthread_t ids[THREADS_MAX];

	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, begin, &longest[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	static double longest[THREADS_MAX];
	int threads;

	if (argc == 3)
		return shortest(argv[1], atof(argv[2]));
	if (argc != 4)
		return 2;
	threads = atoi(argv[2]);
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	if (!strcmp(argv[1], "rate")) {
		each = atol(argv[3]) / threads;
		all(threads, call, longest);
		printf("%.6f\n", (double)clock() / CLOCKS_PER_SEC);
		return 0;
	}
	until = now() + atof(argv[3]) * 1e9;
	all(threads, look, longest);
	qsort(longest, threads, sizeof(*longest), compare);
	printf("%.1f %.1f\n", longest[threads - 1] / 1e6,
	       longest[threads / 2] / 1e6);
	return 0;
}
