/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Four bytes now and then, and nothing else. */
/* truth: leak */
#include "corpus.h"

void *last;

PLAIN void leak(void)
{
	last = malloc(4);
}

static void step(int i)
{
	if (i % 10 == 0)
		leak();
}
