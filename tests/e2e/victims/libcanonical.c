/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose function takes half a second to be found, at the first time. */
#include <time.h>

long found_late(long x);
long call_it(long (*function)(long), long x);

static long next(long x)
{
	return x + 1;
}

static void *find(void)
{
	static int first = 1;

	if (__atomic_exchange_n(&first, 0, __ATOMIC_SEQ_CST))
		nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
	return next;
}

long found_late(long x) __attribute__((ifunc("find")));

long call_it(long (*function)(long), long x)
{
	const long result = function(x);

	return result ^ 1; /* it returns here, and not to the caller */
}
