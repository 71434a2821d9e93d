/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pool of threads that is filled as work comes. */
/* truth: none */
#include "corpus.h"

#define WORKERS 6

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;
int jobs, started;

PLAIN char *state_of_worker(void)
{
	return malloc(900);
}

PLAIN void *work(void *unused)
{
	char *state = state_of_worker();

	(void)unused;
	for (;;) {
		char *scratch;

		pthread_mutex_lock(&lock);
		while (!jobs)
			pthread_cond_wait(&more, &lock);
		jobs--;
		pthread_mutex_unlock(&lock);
		scratch = malloc(333);
		touch(scratch, 333);
		touch(state, 900);
		free(scratch);
	}
	return NULL;
}

static void step(int i)
{
	pthread_t thread;

	if (i % 8 == 0 && started < WORKERS) {
		started++;
		pthread_create(&thread, NULL, work, NULL);
		pthread_detach(thread);
	}
	pthread_mutex_lock(&lock);
	jobs++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}
