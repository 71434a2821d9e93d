/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads THREADS CALLS [PLUGIN]: each thread calls f1 and f2 CALLS times,
 * the first argument being its number. With a plugin another thread loads
 * and unloads it meanwhile and calls its g1 three times each.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

long f1(long i);
long f2(long i);

static int calls;
static volatile int finished;
static long wrong, loads;

static void *caller(void *number)
{
	long base = (long)number * 1000000, bad = 0;

	for (long i = 0; i < calls; i++) {
		bad += f1(base + i) != base + i + 1;
		bad += f2(base + i) != base + i + 1;
	}
	__atomic_add_fetch(&wrong, bad, __ATOMIC_SEQ_CST);
	return NULL;
}

static void load_once(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	long (*g1)(long) = handle ? (long (*)(long))dlsym(handle, "g1") : NULL;

	if (!g1) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < 3; i++)
		wrong += g1(i) != i + 1;
	dlclose(handle);
	loads++;
}

static void *loader(void *path)
{
	while (!finished || loads < 5)
		load_once(path);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64], other;

	calls = argc > 2 ? atoi(argv[2]) : 100;
	if (n > 64)
		return 1;
	if (argc > 3)
		pthread_create(&other, NULL, loader, argv[3]);
	for (long i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, caller, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	finished = 1;
	if (argc > 3)
		pthread_join(other, NULL);
	printf("count MAIN f1 %d\ncount MAIN f2 %d\ncount MAIN g1 %ld\n",
	       n * calls, n * calls, 3 * loads);
	return wrong ? 1 : 7;
}
