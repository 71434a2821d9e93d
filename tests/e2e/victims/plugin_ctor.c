/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plugin whose constructor calls a function of its own five times. */

__attribute__((noinline)) long in_constructor(long i)
{
	__asm__ volatile("");
	return i + 1;
}

long g1(long i)
{
	return i + 1;
}

__attribute__((constructor)) static void begin(void)
{
	for (int i = 0; i < 5; i++)
		in_constructor(i);
}
