/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CORPUS_H
#define CORPUS_H

/*
 * Programs of which it is known what they leak. Each defines step(), which is
 * called STEPS times at equal distances in the seconds that its argument names
 * (3 without). A comment says
 *
 *	truth: FUNCTION...	whose blocks are leaked, or none
 *
 * A site is a leak's if one of these functions is in its stack.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 300

/* Not inlined, and nothing about it is clever: it must be in the stack. */
#define PLAIN __attribute__((noinline, noclone, used))

#ifdef __cplusplus
#define PLAIN_CXX __attribute__((noinline, used))
#endif

static void step(int i);

static unsigned corpus_state = 1;

/* A number below n, the same in each run. */
static inline unsigned pick(unsigned n)
{
	corpus_state = corpus_state * 1103515245u + 12345u;
	return (corpus_state >> 16) % n;
}

/* Uses memory, so that no compiler does without it. */
static inline void touch(void *p, size_t size)
{
	volatile char *c = (volatile char *)p;

	if (p && size)
		c[0] = c[size - 1] = 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3;
	struct timespec now;
	double start;

	clock_gettime(CLOCK_MONOTONIC, &now);
	start = now.tv_sec + now.tv_nsec / 1e9;
	for (int i = 0; i < STEPS; i++) {
		double due = start + seconds * i / STEPS, left;

		clock_gettime(CLOCK_MONOTONIC, &now);
		left = due - (now.tv_sec + now.tv_nsec / 1e9);
		if (left > 0) {
			struct timespec wait;

			wait.tv_sec = (time_t)left;
			wait.tv_nsec = (long)((left - (long)left) * 1e9);
			nanosleep(&wait, NULL);
		}
		step(i);
	}
	return 0;
}

#endif
