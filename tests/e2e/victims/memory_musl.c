/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Blocks of all sizes that come and go, in threads, too; and a few that nothing
 * leads to. It begins when a line is read, and says then how many bytes all that
 * it has can use, as malloc_usable_size() does; and goes on at the next.
 */
#define BLOCKS	6000
#define ROUNDS	3
#define THREADS 3
#define OWN	20

static void *blocks[BLOCKS];
static void **of_threads[THREADS];
static pthread_barrier_t ready;
static unsigned long count, bytes;

static unsigned long next_random(void)
{
	static unsigned long state = 1;

	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

static void note(void *block)
{
	if (!block)
		return;
	count++;
	bytes += malloc_usable_size(block);
}

static size_t some_size(void)
{
	const unsigned long which = next_random() % 100;
	const unsigned long most = which < 90 ? 300 : which < 99 ? 20000 : 200000;

	return next_random() % most;
}

static void change(void **block)
{
	switch (next_random() % 4) {
	case 0:
		*block = realloc(*block, some_size() + 1);
		break;
	case 1:
		free(*block);
		*block = aligned_alloc(16u << next_random() % 9,
				       some_size() + 1);
		break;
	case 2:
		free(*block);
		*block = NULL;
		break;
	default:
		free(*block);
		*block = malloc(some_size());
	}
}

/* What is rare: no bytes, moved mappings, far more aligned than large. */
static void make_special(void)
{
	for (int i = 0; i < 6; i++)
		free(blocks[i]);
	blocks[0] = malloc(0);
	blocks[1] = realloc(malloc(7000000), 200001);
	blocks[2] = aligned_alloc(1 << 21, 300000);
	blocks[3] = aligned_alloc(1 << 22, 5000000);
	blocks[4] = aligned_alloc(1 << 24, 100);
	blocks[5] = realloc(malloc(10), 400000);
}

static void *thread(void *where)
{
	void **own = malloc(OWN * sizeof(*own));

	for (int i = 0; i < OWN; i++)
		own[i] = malloc(50 + i);
	*(void ***)where = own;
	pthread_barrier_wait(&ready);
	pause();
	return NULL;
}

static void start_threads(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, &of_threads[i]);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < THREADS; i++) {
		note(of_threads[i]);
		for (int j = 0; j < OWN; j++)
			note(of_threads[i][j]);
	}
}

/* Nobody sees them again: 77 bytes that lead to 99, and a ring of 40 and 41. */
static __attribute__((noinline)) void lose(void)
{
	void **volatile one = malloc(77);
	void **volatile other = malloc(40);

	*one = malloc(99);
	*other = malloc(41);
	*(void **)*other = other;
	note(one);
	note(*one);
	note(other);
	note(*other);
	one = other = NULL;
}

/* Where they were in registers and on the stack there is something else. */
static __attribute__((noinline)) void forget(void)
{
	volatile char over[8192];

	for (size_t i = 0; i < sizeof(over); i++)
		over[i] = 0;
}

int main(void)
{
	char line[16];

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return 1;
	for (int i = 0; i < ROUNDS * BLOCKS; i++)
		change(&blocks[next_random() % BLOCKS]);
	make_special();
	for (int i = 0; i < BLOCKS; i++)
		note(blocks[i]);
	lose();
	start_threads();
	forget();
	printf("blocks %lu bytes %lu first %p\n", count, bytes, blocks[0]);
	while (read(STDIN_FILENO, line, sizeof(line)) > 0)
		change(&blocks[BLOCKS - 1]);
	_exit(0);
}
