/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds blocks from memory alone that children don't get, or get zeros for:
 * "dontfork", "wipeonfork"; or a page of that, and the blocks from elsewhere:
 * "mark".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT 30
#define SIZE  (256u << 10)

static void *elsewhere[COUNT];

static void **hide(const char *how)
{
	const int advice = strcmp(how, "dontfork") ? MADV_WIPEONFORK :
						     MADV_DONTFORK;
	const size_t size = strcmp(how, "mark") ? SIZE : 4096;
	void **memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, size, advice))
		exit(2);
	memset(memory, 1, size);
	return strcmp(how, "mark") ? memory : elsewhere;
}

int main(int argc, char **argv)
{
	void **held = hide(argc > 1 ? argv[1] : "mark");
	char letter;

	for (int i = 0; i < COUNT; i++)
		held[i] = calloc(1, 700);
	puts("ready");
	fflush(stdout);
	return read(0, &letter, 1) < 0;
}
