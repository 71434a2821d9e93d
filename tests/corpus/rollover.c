/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of the last two days are kept. */
/* truth: none */
#include "corpus.h"

#define DAY 40

char *days[2][DAY];

PLAIN char *record(void)
{
	return malloc(55);
}

static void step(int i)
{
	char **today = days[i / DAY % 2];

	if (i % DAY == 0)
		for (int k = 0; k < DAY; k++) {
			free(today[k]);
			today[k] = NULL;
		}
	today[i % DAY] = record();
}
