/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds three blocks of 3 MiB and three of 2,000 bytes, which two functions
 * under the same chain of callers have acquired.
 */
#include <stdlib.h>

static void *volatile held[6];
static unsigned count;

#define KEPT __attribute__((noinline)) static

KEPT void large(void)
{
	held[count++] = malloc(3 << 20);
	__asm__ volatile("");
}

KEPT void small(void)
{
	held[count++] = malloc(2000);
	__asm__ volatile("");
}

KEPT void fourth(void)
{
	large();
	small();
	__asm__ volatile("");
}

KEPT void third(void)
{
	fourth();
	__asm__ volatile("");
}

KEPT void second(void)
{
	third();
	__asm__ volatile("");
}

KEPT void first(void)
{
	second();
	__asm__ volatile("");
}

int main(void)
{
	for (volatile int i = 0; i < 3; i++)
		first();
	return 0;
}
