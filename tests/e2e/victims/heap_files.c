/*
 * Acquires in ways that files for viewers have to tell apart, and says how
 * much it holds at its end: `held NAME BYTES BLOCKS'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 100

static void *kept[3 * ROUNDS];
static unsigned kept_count;

static inline __attribute__((always_inline)) void keep(size_t size)
{
	char *block = malloc(size);				/* INLINED */

	block[0] = 1;
	kept[kept_count++] = block;
}

__attribute__((noinline)) void leak(size_t size)
{
	keep(size);						/* LEAK */
}

__attribute__((noinline)) void churn(void)
{
	char *block = calloc(7, 11);				/* CHURN */

	block[0] = 1;
	free(block);
}

__attribute__((noinline)) void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);				/* RECURSE */
	else
		kept[kept_count++] = calloc(1, 64);		/* DEEP */
	__asm__ volatile("");
}

__attribute__((noinline)) void map(void)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS;
	char *pages = mmap(NULL, 3 * 4096, PROT_WRITE, how, -1, 0);	/* MAP */

	pages[0] = 1;
}

int main(void)
{
	size_t leaked = 0;

	/* stdout's buffer is acquired before anything is counted. */
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < ROUNDS; i++) {
		leak(1000 + i);
		leaked += 1000 + i;
		churn();
		recurse(5);
	}
	map();
	printf("held leak %zu %d\n", leaked, ROUNDS);
	printf("held recurse %d %d\n", 64 * ROUNDS, ROUNDS);
	printf("held map %d %d\n", 3 * 4096, 1);
	printf("churned %d %d\n", 77 * ROUNDS, ROUNDS);
	return 0;
}
