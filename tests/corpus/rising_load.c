/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More and more requests, each of which ends. */
/* truth: none */
#include "corpus.h"

#define OPEN 400

char *open_ones[OPEN];

PLAIN char *request(void)
{
	return malloc(128);
}

static void step(int i)
{
	for (int k = 0; k < 1 + i / 15; k++) {
		int at = pick(OPEN);

		if (i % 4 == 0)
			at = at % (1 + i);
		free(open_ones[at]);
		open_ones[at] = k % 2 ? request() : NULL;
	}
	for (int k = 0; k < OPEN / 4; k++) {
		int at = (i % 4) * (OPEN / 4) + k;

		free(open_ones[at]);
		open_ones[at] = NULL;
	}
}
