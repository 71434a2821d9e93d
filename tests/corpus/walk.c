/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A number that goes up and down, with no aim. */
/* truth: none */
#include "corpus.h"

#define MOST 60

char *items[MOST];
int count = 0;

PLAIN char *item(void)
{
	return malloc(64);
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 4; k++) {
		if (pick(2) && count < MOST)
			items[count++] = item();
		else if (count)
			free(items[--count]);
	}
}
