/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with all kinds of arguments, and one that is slow. */

#include <stddef.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

KEEP int ints(char a, short b, int c, long d, unsigned e, unsigned long f)
{
	__asm__ volatile("");
	return a + b + c + (int)d + (int)e + (int)f;
}

KEEP int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	__asm__ volatile("");
	return a + b + c + d + e + f + g + h;
}

KEEP const char *text(const char *text)
{
	__asm__ volatile("");
	return text;
}

KEEP void *address(void *address)
{
	__asm__ volatile("");
	return address;
}

KEEP void nothing(void)
{
	__asm__ volatile("");
}

KEEP long guess(long a, long b, long c, long d)
{
	__asm__ volatile("");
	return a + b + c + d;
}

KEEP long slow(long milliseconds)
{
	usleep((useconds_t)milliseconds * 1000);
	return milliseconds;
}

KEEP long nested(long (*callback)(long), long i)
{
	return callback(i) + 1;
}
