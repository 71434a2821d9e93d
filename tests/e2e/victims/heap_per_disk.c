/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Writes to a file, and reads it when the kernel has forgotten what is in it:
 * a line "transfer READ WRITTEN" for each call, in bytes, as the kernel has counted
 * blocks of 512.
 */

#define CHUNK (256 << 10)

static char buffer[CHUNK];
static volatile int turns;

__attribute__((noinline)) void transfer(int fd, int number)
{
	for (int i = 0; i < number; i++)
		if (pwrite(fd, buffer, CHUNK, (off_t)i * CHUNK) != CHUNK)
			abort();
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (pread(fd, buffer, CHUNK, 0) != (number ? CHUNK : 0))
		abort();
	turns++;
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0)
		abort();
	memset(buffer, 'x', sizeof(buffer));
	for (int number = 0; number < 4; number++) {
		getrusage(RUSAGE_THREAD, &before);
		transfer(fd, number);
		getrusage(RUSAGE_THREAD, &after);
		printf("transfer %ld %ld\n",
		       (after.ru_inblock - before.ru_inblock) * 512,
		       (after.ru_oublock - before.ru_oublock) * 512);
	}
	return 0;
}
