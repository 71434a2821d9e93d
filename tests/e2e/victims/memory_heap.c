/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A heap with some of everything, that says of itself what malloc says of it.
 * On each line read: t trims, c overwrites a chunk's head, q ends.
 */
#define BLOCKS 20000
#define THREADS 3

static void *blocks[BLOCKS];
static char *big;
static void *aligned;
static pthread_barrier_t ready;

/* What was one mapping is three then. */
static void divide(void *block)
{
#ifdef DIVIDED
	void *page = (void *)(((size_t)block + 4096) & -4096ul);

	if (madvise(page, 4096, MADV_DONTDUMP))
		abort();
#else
	(void)block;
#endif
}

static void *thread(void *unused)
{
	void **own = calloc(2000, sizeof(*own));

	for (int i = 0; i < 2000; i++)
		own[i] = malloc(20 + i % 500);
	for (int i = 0; i < 2000; i += 3)
		free(own[i]);
	divide(own[1000]);
	pthread_barrier_wait(&ready);
	pause();
	free(own);
	return unused;
}

static void fill(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(16 + i % 900);
	for (int i = 0; i < BLOCKS; i++)
		if (i % 7)
			free(blocks[i]);
	/* Fastbins: beyond the seven that the cache takes. */
	for (int i = 0; i < 40; i++)
		blocks[i] = malloc(40);
	for (int i = 0; i < 40; i++)
		free(blocks[i]);
	big = malloc(8 << 20);
	memset(big, 1, 5 << 20);
	if (posix_memalign(&aligned, 1 << 16, 40 << 20))
		abort();
	divide(blocks[700]);
	divide(big);
	divide((char *)aligned + (20 << 20));
#ifdef DIVIDED
	/* One follows the other, not at the beginning of a mapping. */
	if (mprotect((char *)aligned + (30 << 20), 4096, PROT_NONE))
		abort();
#endif
}

static void say_what_malloc_says(void)
{
#ifdef __GLIBC__
	struct mallinfo2 m = mallinfo2();

	printf("arena %zu ordblks %zu smblks %zu hblks %zu hblkhd %zu "
	       "fsmblks %zu fordblks %zu uordblks %zu keepcost %zu\n",
	       m.arena, m.ordblks, m.smblks, m.hblks, m.hblkhd, m.fsmblks,
	       m.fordblks, m.uordblks, m.keepcost);
#else
	printf("none 0\n");
#endif
}

int main(void)
{
	pthread_t threads[THREADS];
	char line[16];

	setvbuf(stdout, NULL, _IONBF, 0);
	/* Address space that takes no memory. */
	if (mmap(NULL, 100ul << 30, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0) == MAP_FAILED)
		puts("no address space");
	fill();
	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	pthread_barrier_wait(&ready);
	say_what_malloc_says();
	while (read(STDIN_FILENO, line, sizeof(line)) > 0) {
		if (*line == 'q')
			break;
#ifdef __GLIBC__
		if (*line == 't')
			malloc_trim(0);
#endif
		if (*line == 'c')
			((size_t *)blocks[700])[-1] = 0x4141414141414141;
		puts("done");
	}
	_exit(0);
}
