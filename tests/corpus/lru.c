/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache of a hundred entries, the oldest of which makes room. */
/* truth: none */
#include "corpus.h"

#define ENTRIES 100

char *entries[ENTRIES];

PLAIN char *insert(void)
{
	return malloc(64 + pick(200));
}

static void step(int i)
{
	int at = i % ENTRIES;

	free(entries[at]);
	entries[at] = insert();
}
