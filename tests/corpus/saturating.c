/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set that is nearly full soon, and full much later. */
/* truth: none */
#include "corpus.h"

char *members[40];

PLAIN char *member(void)
{
	return malloc(20);
}

static void step(int i)
{
	int k = pick(40);

	(void)i;
	if (!members[k])
		members[k] = member();
	free(malloc(10));
}
