/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All goes well in the first half. */
/* truth: forget */
#include "corpus.h"

PLAIN void forget(int i)
{
	char *p = malloc(90);

	touch(p, 90);
	if (i < STEPS / 2 || i % 4)
		free(p);
}

static void step(int i)
{
	forget(i);
}
