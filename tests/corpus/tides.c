/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections under a load that comes and goes. */
/* truth: none */
#include "corpus.h"

#define OPEN 80

char *open_ones[OPEN];
int ends[OPEN];

PLAIN char *accept_one(void)
{
	return malloc(600);
}

static void step(int i)
{
	int load = i % 120 < 60 ? i % 120 : 120 - i % 120;

	for (int k = 0; k < OPEN; k++) {
		if (open_ones[k] && ends[k] <= i) {
			free(open_ones[k]);
			open_ones[k] = NULL;
		} else if (!open_ones[k] && (int)pick(300) < load) {
			open_ones[k] = accept_one();
			ends[k] = i + 1 + pick(15);
		}
	}
}
