/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * realtime fifo|other: one thread, of that policy, calls f1(i) as often as it
 * can; another calls f2(i) every 10 ms. "q" ends it: status 7, and each prints
 * its calls; 77 if it may have no such policy.
 */

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

static volatile int finished;
static volatile long busy_calls, calm_calls;

/* It leaves a little to others: else the kernel stops it now and then. */
static void *busy(void *argument)
{
	for (long i = 0; !finished; i++) {
		busy_calls = f1(i);
		if (i % 100 == 0)
			usleep(100);
	}
	return argument;
}

static void *calm(void *argument)
{
	for (long i = 0; !finished; i++) {
		calm_calls = f2(i);
		usleep(10000);
	}
	return argument;
}

int main(int argc, char **argv)
{
	const struct sched_param parameters = { .sched_priority = 1 };
	pthread_t one, other;
	int letter;

	pthread_create(&one, NULL, busy, NULL);
	pthread_create(&other, NULL, calm, NULL);
	if (argc > 1 && !strcmp(argv[1], "fifo") &&
	    pthread_setschedparam(one, SCHED_FIFO, &parameters))
		return 77;
	printf("ready\n");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q')
		;
	finished = 1;
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	printf("calls %ld %ld\n", busy_calls, calm_calls);
	return 7;
}
