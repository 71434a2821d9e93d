/* SPDX-License-Identifier: GPL-2.0-or-later */

#define KEEP __attribute__((noinline))

KEEP int add4(int a, int b, int c, int d)
{
	__asm__ volatile("");
	return a + b + c + d;
}

KEEP const char *name_of(const char *text, int i)
{
	__asm__ volatile("");
	return text + i * 0;
}

KEEP long f1(long i)
{
	__asm__ volatile("");
	return i + 1;
}
