/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three threads with names keep blocks of 100 bytes that one function acquires:
 * two of the name "eater" 50 each, "nibbler" 5, and main() 3. A function that
 * only the nibbler calls keeps 4 of 30 bytes, and has given back 6 others.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *volatile keeper;

__attribute__((noinline)) static void grab(int count)
{
	for (int i = 0; i < count; i++)
		keeper = malloc(100);
	__asm__ volatile("");
}

__attribute__((noinline)) static void alone(void)
{
	for (int i = 0; i < 10; i++) {
		void *block = malloc(30);

		keeper = block; /* which another thread may overwrite */
		if (i >= 4)
			free(block);
	}
	__asm__ volatile("");
}

static void *work(void *name)
{
	volatile bool nibbles = !strcmp(name, "nibbler");
	volatile int count = nibbles ? 5 : 50; /* one call for both */

	pthread_setname_np(pthread_self(), name);
	grab(count);
	if (nibbles)
		alone();
	return name;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, work, "nibbler");
	pthread_create(&threads[1], NULL, work, "eater");
	pthread_create(&threads[2], NULL, work, "eater");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	grab(3);
}
