/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Few blocks, and large ones. */
/* truth: image */
#include "corpus.h"

void *last;

PLAIN void image(void)
{
	last = malloc(500000);
}

static void step(int i)
{
	void *p = malloc(30);

	touch(p, 30);
	if (i % 33 == 5)
		image();
	free(p);
}
