/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An IFUNC of the program itself. */

#include <stdio.h>

__attribute__((noinline)) static long chosen_impl(long i)
{
	__asm__ volatile("");
	return i + 4;
}

static long (*chosen_resolver(void))(long)
{
	return chosen_impl;
}

long chosen(long i) __attribute__((ifunc("chosen_resolver")));

int main(void)
{
	long wrong = 0;

	for (long i = 0; i < 50; i++)
		wrong += chosen(i) != i + 4;
	puts("count MAIN chosen 50");
	return wrong ? 1 : 7;
}
