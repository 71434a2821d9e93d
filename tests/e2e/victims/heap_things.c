/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaks descriptors in several ways, and blocks of a pool of its own. Says how
 * many, by /proc for descriptors.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMES = 5 };

static unsigned pool_held;

__attribute__((noinline)) int pool_alloc(int pool, long size, void **result)
{
	static char room[1 << 16];
	static long used;

	if (pool != 7)
		return -1;
	*result = room + used;
	used += size;
	return 0;
}

__attribute__((noinline)) void pool_free(int pool, void *block)
{
	__asm__ volatile("" :: "r"(block), "r"(pool) : "memory");
}

__attribute__((noinline)) static void leak_pool(void)
{
	void *block;

	if (pool_alloc(7, 40, &block))
		exit(1);
	pool_held++;
	if (!pool_alloc(6, 40, &block))
		exit(1);
	if (pool_alloc(7, 100, &block))
		exit(1);
	pool_free(7, block);
}

__attribute__((noinline)) static void leak_open(void)
{
	if (open("/dev/null", O_RDONLY) < 0)
		exit(1);
	if (open("/does/not/exist", O_RDONLY) >= 0)
		exit(1);
}

__attribute__((noinline)) static void leak_fopen(void)
{
	static FILE *volatile file;

	file = fopen("/dev/null", "r");
}

__attribute__((noinline)) static void leak_socket(void)
{
	if (socket(AF_UNIX, SOCK_STREAM, 0) < 0)
		exit(1);
}

__attribute__((noinline)) static void leak_pipe(void)
{
	int ends[2];

	if (pipe(ends))
		exit(1);
	close(ends[0]);
}

__attribute__((noinline)) static void leak_dup(void)
{
	if (dup(2) < 0)
		exit(1);
}

__attribute__((noinline)) static void leak_nothing(void)
{
	FILE *file;

	dup2(2, 200);
	dup2(2, 200);
	close(200);
	close(12345);
	file = fdopen(open("/dev/null", O_RDONLY), "r");
	fclose(file);
	closedir(opendir("/"));
	fclose(fopen("/dev/null", "r"));
	pclose(popen(":", "r"));
}

static unsigned count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* . and .. and its own */
}

int main(void)
{
	static char buffer[BUFSIZ];
	unsigned before = count_descriptors();

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (volatile int i = 0; i < TIMES; i++) {
		leak_open();
		leak_fopen();
		leak_socket();
		leak_pipe();
		leak_dup();
		leak_nothing();
		leak_pool();
	}
	printf("count MAIN descriptors %u\ncount MAIN pool %u\n"
	       "count MAIN each %d\n",
	       count_descriptors() - before, pool_held, TIMES);
	return 0;
}
