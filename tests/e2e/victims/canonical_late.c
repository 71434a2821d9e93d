/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library calls the stub that stands for a function, by pointer, and its slot is
 * being bound when the program has calls of its own. Says how many.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

long found_late(long x);
long call_it(long (*function)(long), long x);

static volatile int over;

static void *call_by_pointer(void *unused)
{
	(void)unused;
	call_it(found_late, 1);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	over = 1;
	return NULL;
}

int main(void)
{
	long own = 0, right = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, call_by_pointer, NULL);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	while (!over) {
		right += found_late(own) == own + 1;
		own++;
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	}
	pthread_join(thread, NULL);
	printf("own %ld, %s\n", own, right == own ? "right" : "wrong");
	return 0;
}
