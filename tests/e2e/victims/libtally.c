/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

long tally_work(long us);
long tally_half(long number);

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Takes so long. */
long tally_work(long us)
{
	const long begin = now();

	while (now() - begin < us)
		;
	return us;
}

/* Takes next to no time. Fails for odd numbers. */
long tally_half(long number)
{
	return number % 2 ? -1 : number / 2;
}
