/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * no_stubs THREADS CALLS [slots]: built with -fno-plt. Each thread calls so often (0: until a
 * line comes), when a line has come, labs() by calls, by jumps at functions' ends, in
 * a loop, and every 50th time by a pointer (slots: never); memcpy() and memmove(), which may be one
 * function; realloc(), which calls memcpy() itself; and llabs(), whose address it
 * compares. Says how many calls there were of each; ends at the next line: 7 = all
 * were right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 16
#define KEEP    __attribute__((noinline))

static long calls;
static volatile int over;
static int by_pointer = 1;
static volatile long rounds, wrong;
static long (*volatile pointer)(long);
static long long (*volatile kept)(long long);

KEEP static long jump(long n)
{
	return labs(n);
}

KEEP static long loop(long n)
{
	long sum = 0;

	for (int i = 0; i < 3; i++)
		sum += labs(n - i);
	return sum;
}

KEEP static int copies(void)
{
	char from[32] = "some text", to[32];

	memcpy(to, from, sizeof(to));
	memmove(from, to, sizeof(from));
	return !strcmp(from, "some text");
}

KEEP static int grows(void)
{
	char *block = malloc(2000), *in_its_way = malloc(16), *larger;
	int right;

	block[1999] = 17;
	larger = realloc(block, 100000);
	right = larger && larger[1999] == 17;
	free(larger);
	free(in_its_way);
	return right;
}

KEEP static int is_same(void)
{
	return kept == llabs && llabs(-17) == 17;
}

static void *run(void *context)
{
	long i;

	for (i = 0; calls ? i < calls : !over; i++)
		if (labs(-i) != i || jump(-i) != i ||
		    loop(-i) != 3 * i + 3 || !copies() || !grows() ||
		    !is_same() || (by_pointer && i % 50 == 49 && pointer(-i) != i))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rounds, i, __ATOMIC_RELAXED);
	return context;
}

static void wait_for_line(const char *what)
{
	char line[64];

	printf("%s\n", what);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[THREADS];
	char line[64];

	calls = argc > 2 ? atol(argv[2]) : 1;
	by_pointer = argc < 4;
	pointer = (long (*)(long))dlsym(RTLD_DEFAULT, "labs");
	kept = (long long (*)(long long))dlsym(RTLD_DEFAULT, "llabs");
	wait_for_line("ready");
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	if (!calls && !fgets(line, sizeof(line), stdin))
		_exit(2);
	over = 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("rounds %ld\n", rounds);
	wait_for_line("done");
	return wrong ? 9 : 7;
}
