/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plugin: g1 is called by whoever loads it, and calls libt's f1. */

long f1(long i);

__attribute__((noinline)) long g1(long i)
{
	__asm__ volatile("");
	return i + 1;
}

long g_calls_f1(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += f1(i);
	return sum;
}
