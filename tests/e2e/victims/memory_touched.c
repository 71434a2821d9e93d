// SPDX-License-Identifier: GPL-2.0-or-later
// 16 MiB that are written once, and 4 MiB that are read all the time.

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static volatile char *take(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, size, MADV_NOHUGEPAGE))
		return NULL;
	memset(pages, 1, size);
	return pages;
}

int main(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	volatile char *cold = take(16 << 20), *hot = take(4 << 20);

	if (!cold || !hot)
		return 1;
	puts("ready");
	fflush(stdout);
	while (!poll(&input, 1, 10))
		for (size_t at = 0; at < 4 << 20; at += PAGE)
			(void)hot[at];
	return 0;
}
