/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that do nothing but take and give back memory, until a line comes.
 * Each looks at whether what it has written is what it reads.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

static volatile int over;

static void *churn(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;
	size_t wrong = 0;

	while (!over) {
		size_t size = 16 + rand_r(&seed) % 500;
		unsigned char *block = malloc(size);

		memset(block, size & 0xff, size);
		wrong += block[size / 2] != (size & 0xff);
		free(block);
	}
	return (void *)wrong;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t threads[THREADS_MAX];
	size_t wrong = 0;
	int i;

	for (i = 0; i < count && i < THREADS_MAX; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(size_t)i);
	puts("ready");
	fflush(stdout);
	(void)getchar();
	over = 1;
	for (i = 0; i < count && i < THREADS_MAX; i++) {
		void *result;

		pthread_join(threads[i], &result);
		wrong += (size_t)result;
	}
	return wrong ? 9 : 7;
}
