/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that don't just return. */

#include <setjmp.h>

#define KEEP __attribute__((noinline))

KEEP long rec(long n)
{
	long result = n ? rec(n - 1) + 1 : 0;

	__asm__ volatile("" : "+r"(result)); /* no loop instead */
	return result;
}

KEEP void jumper(jmp_buf *where, long i)
{
	longjmp(*where, (int)(i % 100) + 1);
}

KEEP long between(long (*callback)(long), long i)
{
	return callback(i) + 1;
}

KEEP long second(long i)
{
	__asm__ volatile("");
	return i + 5;
}

/* Compiled to a jump. */
KEEP long first(long i)
{
	return second(i + 1);
}
