/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

/* Functions that know how long they have taken. */
long truth_short(long loops);
long truth_micro(long loops);
long truth_long(long loops);
long truth_sleep(long ns);
long truth_took(int which);
long truth_calls(int which);

static struct {
	long ns, calls;
} taken[4];

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static long spin(int which, long loops)
{
	const long begin = now();
	volatile long i;

	for (i = 0; i < loops; i++)
		;
	taken[which].ns += now() - begin;
	taken[which].calls++;
	return loops;
}

long truth_short(long loops)
{
	return spin(0, loops);
}

long truth_micro(long loops)
{
	return spin(1, loops);
}

long truth_long(long loops)
{
	return spin(2, loops);
}

long truth_sleep(long ns)
{
	const struct timespec time = { 0, ns };
	const long begin = now();

	nanosleep(&time, NULL);
	taken[3].ns += now() - begin;
	taken[3].calls++;
	return 0;
}

long truth_took(int which)
{
	return taken[which].ns;
}

long truth_calls(int which)
{
	return taken[which].calls;
}
