/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every seventh entry is overlooked when a cache makes room. */
/* truth: remember */
#include "corpus.h"

#define LIFE 40

char *entries[STEPS + LIFE];

PLAIN char *remember(int k)
{
	return malloc(30 + k % 100);
}

static void step(int i)
{
	entries[i + LIFE] = remember(i);
	if (i % 7)
		free(entries[i]);
}
