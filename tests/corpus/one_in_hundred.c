/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of a hundred blocks one is forgotten. */
/* truth: request */
#include "corpus.h"

PLAIN void request(int number)
{
	char *p = malloc(200);

	touch(p, 200);
	if (number % 100 != 0)
		free(p);
}

static void step(int i)
{
	for (int k = 0; k < 5; k++)
		request(i * 5 + k);
}
