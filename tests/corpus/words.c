/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words are kept once; new ones become rare. */
/* truth: none */
#include "corpus.h"

char *known[100];

PLAIN char *word(void)
{
	return strdup("word");
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 3; k++) {
		int w = pick(100) * pick(100) / 100;

		if (!known[w])
			known[w] = word();
	}
}
