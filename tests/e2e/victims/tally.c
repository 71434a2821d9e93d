/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally THREADS ROUNDS CALLS: each thread calls in each round tally_work(), for a long
 * time and a short one by turns, and so often tally_half(), as often for each number.
 * Says how many calls there were, and how long the former took, in microseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long tally_work(long us);
long tally_half(long number);

static long rounds, calls, worked, halved, took;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void *run(void *unused)
{
	long i, k, begin;

	for (i = 0; i < rounds; i++) {
		begin = now();
		tally_work(i % 2 ? 900 : 100);
		__atomic_fetch_add(&took, now() - begin, __ATOMIC_RELAXED);
		for (k = 0; k < calls; k++)
			tally_half(k);
	}
	__atomic_fetch_add(&worked, rounds, __ATOMIC_RELAXED);
	__atomic_fetch_add(&halved, rounds * calls, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	long i, count = argc > 3 ? atol(argv[1]) : 1;

	if (argc > 3) {
		rounds = atol(argv[2]);
		calls = atol(argv[3]);
	}
	for (i = 0; i < count && i < 16; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (i = 0; i < count && i < 16; i++)
		pthread_join(threads[i], NULL);
	printf("count tally_work %ld\ncount tally_half %ld\ntook %ld\n", worked,
	       halved, took);
	return 7;
}
