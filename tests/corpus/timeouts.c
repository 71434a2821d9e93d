/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries that live a fifth of the time and go one by one. */
/* truth: none */
#include "corpus.h"

#define LIFE 60

char *entries[STEPS + LIFE];

PLAIN char *entry(void)
{
	return malloc(77);
}

static void step(int i)
{
	entries[i + LIFE] = entry();
	free(entries[i]);
}
