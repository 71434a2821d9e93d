/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes threads as fast as it can, four at a time. Each calls f1() once, with
 * a number that no other has. When standard input has something it ends;
 * status 7 if all results were right.
 */

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define AT_ONCE 4

long f1(long i);

static long wrong;

static void *call(void *number)
{
	if (f1((long)number) != (long)number + 1)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int is_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

int main(void)
{
	pthread_t threads[AT_ONCE];
	long n = 0;
	int i;

	puts("ready");
	fflush(stdout);
	while (!is_over()) {
		for (i = 0; i < AT_ONCE; i++)
			if (pthread_create(&threads[i], NULL, call,
					   (void *)n++))
				return 1;
		for (i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	printf("made %ld\n", n);
	return wrong ? 1 : 7;
}
