/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For test_scripts.py: each thread stands somewhere else. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 3 };

static void (*stand_at)(unsigned line);
static pthread_barrier_t all_have;

static void *run(void *line)
{
	stand_at((uintptr_t)line);
	pthread_barrier_wait(&all_have);
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : NULL, RTLD_NOW);
	pthread_t threads[THREADS];
	uintptr_t i;

	stand_at = dlsym(library, "stand_at");
	pthread_barrier_init(&all_have, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	run((void *)(i + 1));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
