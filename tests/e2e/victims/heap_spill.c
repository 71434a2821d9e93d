/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaks() keeps small blocks; passes() needs a large one for a moment, and so
 * is the one that finds no room left in the heap.
 */
#include <stdlib.h>
#include <unistd.h>

#define COUNT 3000

static void *volatile kept[COUNT];

__attribute__((noinline)) static void leaks(int i)
{
	kept[i] = malloc(3000);
	__asm__ volatile("");
}

__attribute__((noinline)) static void passes(void)
{
	void *volatile block = malloc(50000);

	free(block);
	__asm__ volatile("");
}

int main(void)
{
	for (int i = 0; i < COUNT; i++) {
		leaks(i);
		passes();
		usleep(500);
	}
	return 0;
}
