// SPDX-License-Identifier: GPL-2.0-or-later
// Threads hand blocks to the next one, which resizes and frees them. Others come
// and go, one after the other. Says how many calls there were.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64

static struct {
	sem_t full, empty;
	void *blocks[ROOM];
} queue;

static unsigned count, brief;

static void *produce(void *unused)
{
	for (unsigned i = 0; i < count; i++) {
		sem_wait(&queue.empty);
		queue.blocks[i % ROOM] = malloc(i % 3000 + 1);
		sem_post(&queue.full);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (unsigned i = 0; i < count; i++) {
		void *block;

		sem_wait(&queue.full);
		block = queue.blocks[i % ROOM];
		if (i % 2)
			block = realloc(block, 5000);
		free(block);
		sem_post(&queue.empty);
	}
	return unused;
}

static void *stay_briefly(void *unused)
{
	void *block = NULL;

	if (posix_memalign(&block, 256, 1 << 20))
		abort();
	memset(block, 1, 1 << 20);
	__asm__ volatile("" : : "r"(block) : "memory"); /* it must be done */
	free(block);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t producer, consumer;

	count = argc > 1 ? atoi(argv[1]) : 1000;
	brief = argc > 2 ? atoi(argv[2]) : 10;
	sem_init(&queue.full, 0, 0);
	sem_init(&queue.empty, 0, ROOM);
	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&consumer, NULL, consume, NULL);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	for (unsigned i = 0; i < brief; i++) {
		pthread_create(&producer, NULL, stay_briefly, NULL);
		pthread_join(producer, NULL);
	}
	free(calloc(10, 100));
	return 0;
}
