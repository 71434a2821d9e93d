/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

/*
 * Threads that answer requests, each of which counts what it does: a line
 * "request THREAD NUMBER blocks BYTES usable releases reads writes faults".
 */

#define NAP_US 50000

struct counts {
	unsigned long blocks, bytes, usable, releases, reads, writes;
};

static __thread struct counts counts;
static __thread jmp_buf out;
static void *volatile kept;

static void *acquired(void *block, size_t size)
{
	counts.blocks++;
	counts.bytes += size;
	counts.usable += malloc_usable_size(block);
	return block;
}

static __attribute__((noinline)) void store(int number)
{
	char *block = acquired(malloc(100 + number), 100 + number);

	block = acquired(realloc(block, 5000), 5000);
	memset(block, number, 5000);
	free(block);
	counts.releases++;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* The last one is left by a jump. */
__attribute__((noinline)) void request(int number, int last)
{
	struct timeval nap = { .tv_usec = NAP_US };
	char *large = acquired(calloc(300, 1000), 300000);
	int ends[2];
	char byte = 'x';

	memset(large, 1, 300000);
	free(large);
	counts.releases++;
	kept = malloc((size_t)-1 / 2);
	for (int i = 0; i < number; i++)
		store(i);
	if (pipe(ends))
		abort();
	for (int i = 0; i <= number; i++) {
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			abort();
		counts.writes++;
		counts.reads++;
	}
	close(ends[0]);
	close(ends[1]);
	select(0, NULL, NULL, NULL, &nap);
	if (last)
		longjmp(out, 1);
}

static void *serve(void *argument)
{
	const int thread = (int)(long)argument, requests = 3;
	volatile int number;

	for (number = 1; number <= requests; number++) {
		const long before = faults();

		memset(&counts, 0, sizeof(counts));
		request(number, 0);
		printf("request %d %d %lu %lu %lu %lu %lu %lu %ld\n", thread,
		       number, counts.blocks, counts.bytes, counts.usable,
		       counts.releases, counts.reads, counts.writes,
		       faults() - before);
	}
	if (!setjmp(out))
		request(0, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[16];

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (long i = 0; i < threads && i < 16; i++)
		pthread_create(&ids[i], NULL, serve, (void *)i);
	for (long i = 0; i < threads && i < 16; i++)
		pthread_join(ids[i], NULL);
	free(kept);
	return 0;
}
