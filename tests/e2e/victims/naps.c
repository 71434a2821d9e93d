/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that sleep for 3 ms in a library's function, and call others in between. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int outer(int microseconds);

#ifdef LIBRARY
int outer(int microseconds)
{
	usleep((useconds_t)microseconds);
	return microseconds;
}
#else
#define THREADS 6

static void *work(void *context)
{
	char text[32];
	int i, j;

	for (i = 0; i < 150; i++) {
		outer(3000);
		for (j = 0; j < 5; j++)
			snprintf(text, sizeof(text), "%d", i);
	}
	return context;
}

int main(void)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
#endif
