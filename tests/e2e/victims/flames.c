/*
 * Keeps memory in several functions, for so many steps of a millisecond, and
 * says how much: "kept BYTES BLOCKS", "acquired BYTES BLOCKS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static void *volatile kept[100000];
static unsigned long kept_blocks, kept_bytes, all_blocks, all_bytes;

APART void *get(size_t size)
{
	void *p = malloc(size);

	all_blocks++;
	all_bytes += size;
	return p;
}

APART void keep(size_t size)
{
	kept[kept_blocks++] = get(size);
	kept_bytes += size;
}

APART void leak(void)
{
	keep(200);
}

APART void cache(void)
{
	keep(150000);
}

APART void odd(void)
{
	keep(70000);
}

APART void even(void)
{
	keep(30000);
}

APART void churn(void)
{
	void *volatile p = get(3000);

	usleep(1000);
	free(p);
}

APART void deep(int depth)
{
	if (depth)
		deep(depth - 1);
	else
		keep(50000);
	__asm__ volatile ("");
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1000, length;
	char text[200];

	cache();
	odd();
	even();
	deep(12);
	for (int i = 0; i < steps; i++) {
		leak();
		churn();
	}
	/* stdio would acquire a buffer of its own. */
	length = snprintf(text, sizeof(text),
			  "kept %lu %lu\nacquired %lu %lu\n", kept_bytes,
			  kept_blocks, all_bytes, all_blocks);
	return write(1, text, length) != length;
}
