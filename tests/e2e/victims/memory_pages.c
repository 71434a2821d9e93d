/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds a large block of which a little is used, in huge pages if the kernel has
   some. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

char *sparse;

int main(void)
{
	char *first;

	sparse = malloc(64 * MIB);
	/* All of it: the kernel would divide the mapping. */
	first = (char *)((uintptr_t)sparse & ~(uintptr_t)4095);
	madvise(first, 64 * MIB + 4096, MADV_HUGEPAGE);
	memset(sparse, 1, 7 * MIB);
	for (int i = 0; i < 100; i++)
		sparse[16 * MIB + (size_t)i * 8192] = 1;
	printf("%p ready\n", (void *)sparse);
	fflush(stdout);
	return getchar() == 'q' ? 0 : 1;
}
