/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target THREADS MICROSECONDS: a program to attach to. Each thread calls
 * f1(number * 2^40 + i) for i = 0, 1, … and sleeps so long between the calls.
 * When its standard input ends or says "q" it stops and prints how often each
 * thread called; status 7 if all results were right.
 * The line "at N" answers the letter "a": thread 0's i.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

static volatile int finished;
static useconds_t pause_time;
static long wrong;
static volatile long at[64];

static void *caller(void *argument)
{
	long number = (long)argument, bad = 0;

	for (long i = 0; !finished; i++) {
		long value = (number << 40) + i;

		bad += f1(value) != value + 1;
		at[number] = i + 1;
		if (pause_time)
			usleep(pause_time);
	}
	__atomic_add_fetch(&wrong, bad, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64];
	int letter;

	pause_time = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	for (long i = 0; i < n && i < 64; i++)
		pthread_create(&ids[i], NULL, caller, (void *)i);
	printf("ready\n");
	fflush(stdout);
	while ((letter = getchar()) != EOF && letter != 'q') {
		f2(letter);
		printf("at %ld\n", at[0]);
		fflush(stdout);
	}
	finished = 1;
	for (int i = 0; i < n && i < 64; i++) {
		pthread_join(ids[i], NULL);
		printf("count %d calls %ld\n", i, at[i]);
	}
	return wrong ? 1 : 7;
}
