/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaks 4 bytes each so many milliseconds: main > someFunc > leak. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile forgotten;

__attribute__((noinline)) static void leak(void)
{
	forgotten = malloc(sizeof(int)); /* here */
	__asm__ volatile("");
}

__attribute__((noinline)) static void someFunc(void)
{
	leak();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	unsigned milliseconds = argc > 1 ? atoi(argv[1]) : 1000;

	if (write(1, "ready\n", 6) < 0)
		return 1;
	for (;;) {
		someFunc();
		usleep(milliseconds * 1000);
	}
}
