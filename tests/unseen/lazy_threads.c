/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Twelve workers, each of which makes its context when it gets its first job.
 * Jobs go to few workers in the beginning, and to all of them by and by.
 */
#include "server.h"

#include <pthread.h>

#define WORKERS 12

struct context {
	char buffer[2000];
	unsigned int jobs;
};

static __thread struct context *context;

static struct context *thread_context(void)
{
	if (!context)
		context = calloc(1, sizeof(*context));
	return context;
}

static void do_job(void)
{
	char *job = calloc(1, 64);

	use(job);
	thread_context()->jobs++;
	free(job);
}

static void *worker(void *arg)
{
	unsigned int number = (unsigned int)(uintptr_t)arg;

	while (serving(100))
		if (uptime() > number * 2)
			do_job();
	free(context);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS];

	serve_for(argc, argv);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker,
			       (void *)(uintptr_t)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
