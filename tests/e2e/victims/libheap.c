/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is loaded late, keeps memory, and has an allocator with a prefix. */
#include <stdlib.h>

static char room[4096];
static size_t used;
static void *volatile kept[16];

void *je_malloc(size_t size)
{
	used += size;
	return room + used - size;
}

void je_free(void *pointer)
{
	__asm__ volatile("" :: "r"(pointer));
}

__attribute__((noinline)) static void pool_keep(void)
{
	for (volatile int i = 0; i < 7; i++)
		kept[i] = je_malloc(100);
	je_free(je_malloc(100));
}

void lib_keep(unsigned blocks, size_t size)
{
	for (unsigned i = 0; i < blocks; i++)
		kept[8 + i % 8] = malloc(size);
	__asm__ volatile("" ::: "memory");
	pool_keep();
	__asm__ volatile("" ::: "memory");
}
