/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for beyond the pool is never returned. */
/* truth: extra */
#include "corpus.h"

#define SLOTS 10

char *slots[SLOTS];
int busy[SLOTS];

PLAIN char *slot(int k)
{
	if (!slots[k])
		slots[k] = malloc(1000);
	return slots[k];
}

PLAIN char *extra(void)
{
	return malloc(1000);
}

static void step(int i)
{
	int wanted = 5 + pick(8), k = 0;

	(void)i;
	for (; wanted && k < SLOTS; k++, wanted--)
		touch(slot(k), 1000);
	while (wanted--)
		touch(extra(), 1000);
}
