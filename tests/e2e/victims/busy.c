/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Works for ever: WORK additions, then a call of tiny(). Prints each half
 * second how often it has done that.
 */
#include <stdio.h>
#include <time.h>

#ifndef WORK
#define WORK 20000
#endif

static volatile unsigned sum;

__attribute__((noinline)) void tiny(void)
{
	__asm__ volatile("");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
	for (;;) {
		double begin = now();
		unsigned calls = 0;

		for (; now() < begin + 0.5; calls++) {
			for (unsigned i = 0; i < WORK; i++)
				sum += i;
			tiny();
		}
		printf("did %u\n", calls);
		fflush(stdout);
	}
}
