/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two threads compute most of the time and leave little to the one that
 * answers: its jobs wait in a queue for longer or shorter. One job in fifteen
 * that is cancelled is forgotten; parts of jobs never are.
 */
#include "server.h"

#include <pthread.h>

#define QUEUE 24

static char *jobs[QUEUE], *parts[QUEUE];

static void *compute(void *arg)
{
	volatile unsigned int sum = 0;
	double until;

	while (serving(150)) {
		until = clock_seconds() + 0.3;
		while (clock_seconds() < until)
			sum = sum + 1;
	}
	return arg;
}

static char *new_job(void)
{
	return calloc(1, 160);
}

static char *new_part(void)
{
	return calloc(1, 90);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	serve_for(argc, argv);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, compute, NULL);
	for (unsigned int i = 0; serving(20); i++) {
		if (pick(15))
			free(jobs[i % QUEUE]);
		free(parts[i % QUEUE]);
		jobs[i % QUEUE] = new_job();
		parts[i % QUEUE] = new_part();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
