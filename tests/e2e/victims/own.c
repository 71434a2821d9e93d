/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions of its own; own_static is in the local symbols only. */

#include <stdio.h>

__attribute__((noinline)) long own_global(long i)
{
	__asm__ volatile("");
	return i + 1;
}

__attribute__((noinline)) static long own_static(long i)
{
	__asm__ volatile("");
	return i + 2;
}

int main(void)
{
	long wrong = 0;

	for (long i = 0; i < 300; i++)
		wrong += own_global(i) != i + 1;
	for (long i = 0; i < 200; i++)
		wrong += own_static(i) != i + 2;
	puts("count MAIN own_global 300\ncount MAIN own_static 200");
	return wrong ? 1 : 7;
}
