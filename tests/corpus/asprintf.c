/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asprintf()'s text is printed once and forgotten. */
/* truth: describe */
#include "corpus.h"

PLAIN int describe(int number)
{
	char *text;

	return asprintf(&text, "this is the number %d, and no other", number);
}

static void step(int i)
{
	if (i % 7 == 0)
		describe(i);
}
