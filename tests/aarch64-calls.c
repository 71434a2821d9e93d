/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * For tests/aarch64.sh: four threads, each of which calls malloc() CALLS times,
 * once a line has been read.
 */
#define CALLS 100

static char *volatile block;

static void *work(void *argument)
{
	for (int i = 0; i < CALLS; i++) {
		char *volatile own = malloc(10 + i);

		free(own);
	}
	return argument;
}

static void keep(void)
{
	block = malloc(1234);
}

int main(void)
{
	pthread_t threads[4];
	char byte;

	keep(); /* there is a heap */
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	keep();
	return strtod("2.5", NULL) == 2.5 ? 0 : 1;
}
