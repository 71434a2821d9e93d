/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that are made at the start and stay. */
/* truth: none */
#include "corpus.h"

char *table[500];

PLAIN void make_entry(int k)
{
	table[k] = malloc(40);
}

PLAIN void use(void)
{
	char *p = malloc(25);

	touch(p, 25);
	free(p);
}

static void step(int i)
{
	if (i < 10)
		for (int k = 0; k < 50; k++)
			make_entry(i * 50 + k);
	use();
}
