/*
 * Acquires in ways that files for viewers have to tell apart, and says how
 * much it holds at its end: `held NAME BYTES BLOCKS'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *kept[1000];
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

/* How often: "l20 r3" leaks 20 times and recurses 3 times, nothing else. */
static int rounds_of(const char *words, char what)
{
	const char *found = strchr(words, what);

	return found ? atoi(found + 1) : 0;
}

int main(int argc, char **argv)
{
	const char *words = argc > 1 ? argv[1] : "l100 c100 r100 m1";
	size_t leaked = 0;
	int i;

	/* stdout's buffer is acquired before anything is counted. */
	setvbuf(stdout, NULL, _IONBF, 0);
	for (i = 0; i < rounds_of(words, 'l'); i++) {
		leak(1000 + i);
		leaked += 1000 + i;
	}
	printf("held leak %zu %d\n", leaked, i);
	for (i = 0; i < rounds_of(words, 'c'); i++)
		churn();
	for (i = 0; i < rounds_of(words, 'r'); i++)
		recurse(5);
	printf("held recurse %d %d\n", 64 * i, i);
	for (i = 0; i < rounds_of(words, 'm'); i++)
		map();
	printf("held map %d %d\n", 3 * 4096 * i, i);
	return 0;
}
