/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls strlen() so often, ten frames deep, with some work after each. */
#include <stdlib.h>
#include <string.h>

static volatile unsigned long sum;

static void work(unsigned long n)
{
	while (n--)
		sum += n;
}

static __attribute__((noinline)) void deep(int depth, const char *text)
{
	if (depth)
		deep(depth - 1, text);
	else
		sum += strlen(text);
	__asm__ volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;

	while (n--) {
		deep(10, "a text");
		work(strtoul(argv[2], NULL, 10));
	}
	return argc == 3 ? 7 : 1;
}
