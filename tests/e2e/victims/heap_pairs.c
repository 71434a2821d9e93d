/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Acquires two blocks a millisecond and gives them back, for ever: nothing is
 * wrong with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile sink;

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (unsigned i = 0;; i++) {
		void *a = malloc(100 + i % 50);
		void *b = malloc(30);

		sink = a;
		free(a);
		sink = b;
		free(b);
		usleep(1000);
	}
}
