/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acquires and gives back at random, and keeps its own books: what each of its
 * functions held when all of them together held most, and how many blocks of
 * each were given back before the next one was acquired.
 *
 * `heap_peak SEED RESIZES FORKS': whether realloc is among what it does, and
 * whether a child does the same with the next seed. Prints `PID NAME PEAK_BYTES
 * PEAK_BLOCKS TEMPORARY' of each function, then `PID all ...'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ONE, TWO, MORE, CHURN, FUNCTIONS };

static const char *const names[] = { "one", "two", "more", "churn" };

static struct {
	char *block;
	size_t size;
	int function;
	unsigned long number; /* of the acquisition */
} slots[300];

static struct {
	size_t bytes, blocks;
	size_t peak_bytes, peak_blocks;
	size_t temporary;
} books[FUNCTIONS];

static size_t held, peak;
static unsigned long long state;
static unsigned long acquisitions;

static unsigned pick(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static void gone(int slot)
{
	books[slots[slot].function].bytes -= slots[slot].size;
	books[slots[slot].function].blocks--;
	held -= slots[slot].size;
}

static void come(int slot, int function, char *block, size_t size)
{
	slots[slot].block = block;
	slots[slot].size = size;
	slots[slot].function = function;
	slots[slot].number = ++acquisitions;
	books[function].bytes += size;
	books[function].blocks++;
	held += size;
	if (held <= peak)
		return;
	peak = held;
	for (int i = 0; i < FUNCTIONS; i++) {
		books[i].peak_bytes = books[i].bytes;
		books[i].peak_blocks = books[i].blocks;
	}
}

static void give_back(int slot)
{
	if (slots[slot].number == acquisitions)
		books[slots[slot].function].temporary++;
	gone(slot);
	free(slots[slot].block);
	slots[slot].block = NULL;
}

__attribute__((noinline)) static void one(int slot, size_t size)
{
	come(slot, ONE, malloc(size), size);
}

__attribute__((noinline)) static void two(int slot, size_t size)
{
	come(slot, TWO, calloc(size / 10, 10), size / 10 * 10);
}

__attribute__((noinline)) static void more(int slot, size_t size)
{
	char *block = realloc(slots[slot].block, size);

	gone(slot);
	come(slot, MORE, block, size);
}

__attribute__((noinline)) static void churn(int slot, size_t size)
{
	come(slot, CHURN, malloc(size), size);
	give_back(slot);
}

static void act(unsigned largest, int resizes)
{
	const int slot = pick(sizeof(slots) / sizeof(*slots));
	const size_t size = 10 + pick(largest);

	if (!slots[slot].block)
		(pick(5) == 0 ? churn : pick(2) ? one : two)(slot, size);
	else if (resizes && pick(3) == 0)
		more(slot, size);
	else
		give_back(slot);
}

static void tell(void)
{
	size_t blocks = 0, temporary = 0;

	for (int i = 0; i < FUNCTIONS; i++) {
		printf("%d %s %zu %zu %zu\n", (int)getpid(), names[i],
		       books[i].peak_bytes, books[i].peak_blocks,
		       books[i].temporary);
		blocks += books[i].peak_blocks;
		temporary += books[i].temporary;
	}
	printf("%d all %zu %zu %zu\n", (int)getpid(), peak, blocks, temporary);
}

int main(int argc, char **argv)
{
	const int resizes = argc > 2 && atoi(argv[2]);

	/* stdout's buffer would be acquired. */
	setvbuf(stdout, NULL, _IONBF, 0);
	state = argc > 1 ? atoi(argv[1]) : 1;
	if (argc > 3 && atoi(argv[3]) && !fork()) {
		state++;
	} else {
		/* The child's is another program with other acts. */
		for (int i = 0; i < 10; i++)
			pick(2);
	}
	/* It becomes larger, then smaller. */
	for (int i = 0; i < 6000; i++)
		act(i < 3000 ? 100 + i : 6100 - i, resizes);
	tell();
	while (wait(NULL) > 0)
		continue;
	return 0;
}
