/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the servers here have in common: the time that they are given, the
 * pauses between requests, and chance, which is the same in each run.
 */
#ifndef UNSEEN_SERVER_H
#define UNSEEN_SERVER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static double server_began, server_ends;

static inline double clock_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* To be called first: takes the seconds to run from the first argument. */
static inline void serve_for(int argc, char **argv)
{
	server_began = clock_seconds();
	server_ends = server_began + (argc > 1 ? atof(argv[1]) : 30);
}

/* Seconds since the server began. */
static inline double uptime(void)
{
	return clock_seconds() - server_began;
}

/* Waits @ms milliseconds for the next request; false when time is over. */
static inline int serving(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
	return clock_seconds() < server_ends;
}

/* A number from 0 to @n - 1. Each thread has the same sequence. */
static inline unsigned int pick(unsigned int n)
{
	static __thread uint32_t state = 2463534242u;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

/* What compilers must take for used, so that no allocation is left out. */
static inline void use(const void *block)
{
	__asm__ volatile("" : : "r"(block) : "memory");
}

#endif
