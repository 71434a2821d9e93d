/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acquires memory from the kernel itself, and says how much it has. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS };

static void *volatile kept[8];

static char *map(size_t size)
{
	char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, FLAGS, -1, 0);

	if (data == MAP_FAILED)
		_exit(1);
	return data;
}

/* Two pieces of 1 and 2 pages remain of 8. */
__attribute__((noinline)) static void keep_half(void)
{
	char *data = mmap(NULL, 8 * PAGE - 5, PROT_READ, FLAGS, -1, 0);

	munmap(data + PAGE, 5 * PAGE);
	kept[0] = data;
	__asm__ volatile("");
}

int main(void)
{
	static char buffer[BUFSIZ];
	char *data;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	kept[7] = malloc(1000000); /* malloc maps it: no mapping of ours */
	keep_half();
	data = map(100 * PAGE);
	munmap(data, 100 * PAGE);
	data = map(10 * PAGE);
	kept[1] = mremap(data, 10 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
	kept[2] = mremap(map(16 * PAGE), 16 * PAGE, 4 * PAGE, 0);
	/* Over what is there. */
	data = map(6 * PAGE);
	kept[3] = mmap(data + PAGE, 2 * PAGE, PROT_READ, FLAGS | MAP_FIXED, -1,
		       0);
	if (mmap(NULL, 0, PROT_READ, FLAGS, -1, 0) != MAP_FAILED)
		return 1;
	sbrk(3 * PAGE);
	sbrk(-PAGE);
	if (brk((char *)sbrk(0) + 7 * PAGE))
		return 1;
	printf("count MAIN mapped %d\ncount MAIN peak %d\n"
	       "count MAIN half %d\ncount MAIN broken %d\n"
	       "count MAIN malloc 1000000\n",
	       (3 + 20 + 4 + 6) * PAGE, (3 + 100) * PAGE, 3 * PAGE, 9 * PAGE);
	return 0;
}
