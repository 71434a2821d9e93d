/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An early return forgets what was allocated. */
/* truth: parse */
#include "corpus.h"

PLAIN int parse(int bad)
{
	char *copy = malloc(64 + pick(64));

	touch(copy, 64);
	if (bad)
		return -1;
	free(copy);
	return 0;
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 10; k++)
		parse(pick(100) < 3);
}
