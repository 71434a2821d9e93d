/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes itself larger and smaller. Each step says by how much, as it sees
 * itself in /proc/self/statm:
 *
 *	step NAME BYTES
 *
 * Without arguments it does the steps that the letters on standard input name,
 * and answers each with that line. With a number it does all of them, in so
 * many threads beside each other, and ends.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  4096
#define SMALL 2000
#define MAPS  5
#define BIGS  3

static _Thread_local void *small[SMALL];
static _Thread_local char *maps[MAPS];
static _Thread_local char *bigs[BIGS];

#define STEP __attribute__((noinline)) static void

/* In the heap; the top is asked for in portions. */
STEP grow_small(void)
{
	for (int i = 0; i < SMALL; i++)
		small[i] = malloc(1000);
	__asm__ volatile("");
}

STEP free_small(void)
{
	for (int i = 0; i < SMALL; i++)
		free(small[i]);
	malloc_trim(0);
	__asm__ volatile("");
}

STEP grow_map(void)
{
	for (int i = 0; i < MAPS; i++)
		maps[i] = mmap(NULL, 39 * PAGE + 1, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__asm__ volatile("");
}

/* In the middle of the first two. */
STEP unmap_parts(void)
{
	munmap(maps[0] + 10 * PAGE, 10 * PAGE);
	munmap(maps[1] + 10 * PAGE, 10 * PAGE);
	__asm__ volatile("");
}

/* The last one's second half is another mapping now; nothing grows. */
STEP map_over(void)
{
	char *half = maps[MAPS - 1] + 20 * PAGE;

	if (mmap(half, 20 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_FIXED, -1, 0) != half)
		abort();
	__asm__ volatile("");
}

STEP grow_big(void)
{
	for (int i = 0; i < BIGS; i++)
		bigs[i] = malloc(1 << 20);
	__asm__ volatile("");
}

STEP move_big(void)
{
	for (int i = 0; i < BIGS; i++)
		bigs[i] = realloc(bigs[i], (8 << 20) + i);
	__asm__ volatile("");
}

STEP free_big(void)
{
	for (int i = 0; i < BIGS; i++)
		free(bigs[i]);
	__asm__ volatile("");
}

STEP fail(void)
{
	if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		    MAP_FAILED ||
	    !munmap(maps[0] + 1, PAGE))
		abort();
	__asm__ volatile("");
}

static const struct {
	char letter;
	const char *name;
	void (*run)(void);
} steps[] = {
	{ 's', "grow_small", grow_small },   { 'm', "grow_map", grow_map },
	{ 'p', "unmap_parts", unmap_parts }, { 'o', "map_over", map_over },
	{ 'b', "grow_big", grow_big },       { 'r', "move_big", move_big },
	{ 'f', "free_big", free_big },       { 'x', "fail", fail },
	{ 't', "free_small", free_small },
};

#define STEPS (sizeof(steps) / sizeof(*steps))

/* Nothing here may take memory. */
static long size(void)
{
	char text[100] = "";
	int fd = open("/proc/self/statm", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		abort();
	close(fd);
	return atol(text) * PAGE;
}

static void say(const char *name, long bytes)
{
	char text[100];
	int n = snprintf(text, sizeof(text), "step %s %ld\n", name, bytes);

	if (write(1, text, n) != n)
		abort();
}

static void run(char letter)
{
	for (size_t i = 0; i < STEPS; i++) {
		long before;

		if (steps[i].letter != letter)
			continue;
		before = size();
		steps[i].run();
		say(steps[i].name, size() - before);
	}
}

static pthread_barrier_t barrier;

static void *run_all(void *argument)
{
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < STEPS; i++)
		steps[i].run();
	pthread_barrier_wait(&barrier);
	return argument;
}

static void run_threads(int count)
{
	pthread_t threads[64];

	pthread_barrier_init(&barrier, NULL, count);
	for (int i = 1; i < count; i++)
		pthread_create(&threads[i], NULL, run_all, NULL);
	run_all(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	char letter;

	/* Or freed mappings would teach malloc to use the heap. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	if (argc > 1) {
		run_threads(atoi(argv[1]));
		return 0;
	}
	say("ready", size());
	while (read(0, &letter, 1) == 1)
		run(letter);
	return 0;
}
