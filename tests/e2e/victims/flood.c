/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flood THREADS CALLS: when a line has come, so many threads call dlsym() so often,
 * while two others call labs() from before that until it is over. Says how often.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST  64
#define FLOOD 2
#define BEGUN 100000 /* calls: then one does it without us */

static int calls, threads, left, flooding;
static volatile long made, wrong;

static void *look_up(void *context)
{
	int i;

	while (__atomic_load_n(&flooding, __ATOMIC_RELAXED) < FLOOD)
		usleep(1000);
	for (i = 0; i < calls; i++)
		if (!dlsym(RTLD_DEFAULT, "labs"))
			wrong++;
	__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
	return context;
}

static void *flood(void *context)
{
	long i;

	for (i = 0; __atomic_load_n(&left, __ATOMIC_RELAXED); i++)
		if (labs(-i) != i)
			wrong++;
		else if (i == BEGUN)
			__atomic_fetch_add(&flooding, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&made, i, __ATOMIC_RELAXED);
	return context;
}

int main(int argc, char **argv)
{
	pthread_t all[MOST + FLOOD];
	char line[8];
	int i;

	threads = argc == 3 ? atoi(argv[1]) : 0;
	if (threads < 1 || threads > MOST)
		return 2;
	left = threads;
	calls = atoi(argv[2]);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	for (i = 0; i < threads + FLOOD; i++)
		pthread_create(&all[i], NULL, i < threads ? look_up : flood,
			       NULL);
	for (i = 0; i < threads + FLOOD; i++)
		pthread_join(all[i], NULL);
	printf("made %ld\ndone\n", made);
	return wrong ? 9 : 7;
}
