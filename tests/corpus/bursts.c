/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nothing for a while, then many at once. */
/* truth: burst */
#include "corpus.h"

PLAIN void *burst(void)
{
	return malloc(80);
}

static void step(int i)
{
	if (i % 40 == 20)
		for (int k = 0; k < 30; k++)
			touch(burst(), 80);
}
