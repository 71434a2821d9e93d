/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_seeded THREADS ROUNDS [go]: acquires and gives back by each function of
 * malloc's family, always the same however its threads run. Blocks go from
 * thread to thread. With a third argument it waits for a line first, and for
 * another one in the end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN    512
#define SHARED 64
#define CREW   64

static unsigned rounds;
static pthread_barrier_t all_are_there; /* none gets the stack of one before */
static void *shared[SHARED];

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static __attribute__((noinline)) void *get(unsigned how, size_t size)
{
	void *block = NULL;

	switch (how % 5) {
	case 0:
		block = calloc(1, size);
		break;
	case 1:
		block = realloc(NULL, size);
		break;
	case 2:
		block = malloc(size);
		break;
	case 3:
		if (posix_memalign(&block, 64, size))
			abort();
		break;
	case 4:
		block = aligned_alloc(64, (size + 63) / 64 * 64);
		break;
	}
	memset(block, 1, size);
	return block;
}

static __attribute__((noinline)) void *deep(unsigned depth, unsigned how,
					    size_t size)
{
	volatile char here = (char)depth;
	void *block = depth ? deep(depth - 1, how, size) : get(how, size);

	here++;
	return block;
}

static void hand_over(unsigned to)
{
	void *mine = strdup("from thread to thread");

	free(__atomic_exchange_n(&shared[to % SHARED], mine,
				 __ATOMIC_ACQ_REL));
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument, i;
	void *own[OWN] = { 0 };

	pthread_barrier_wait(&all_are_there);
	for (i = 0; i < rounds; i++) {
		unsigned r = next(&seed), which = r % OWN;

		if (own[which] && r % 7 == 0) {
			own[which] = realloc(own[which],
					     16 + next(&seed) % 500);
		} else {
			free(own[which]);
			own[which] = deep(r % 6, next(&seed),
					  16 + next(&seed) % 300);
		}
		if (i % 50 == 0)
			hand_over(r);
		if (i % 100 == 0 && !deep(3, 2, 24)) /* lost */
			abort();
	}
	for (i = 0; i < OWN; i++)
		free(own[i]);
	return NULL;
}

static void wait_for_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	pthread_t crew[CREW];
	size_t threads, i;

	if (argc < 3)
		return 2;
	threads = strtoul(argv[1], NULL, 10);
	rounds = (unsigned)strtoul(argv[2], NULL, 10);
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	if (argc > 3)
		wait_for_line();
	if (threads > CREW)
		threads = CREW;
	pthread_barrier_init(&all_are_there, NULL, (unsigned)threads);
	for (i = 0; i < threads; i++)
		if (pthread_create(&crew[i], NULL, work, (void *)(i + 1)))
			return 1;
	while (i--)
		pthread_join(crew[i], NULL);
	puts("done");
	if (argc > 3)
		wait_for_line();
	return 7;
}
