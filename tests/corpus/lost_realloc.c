/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer that had to be made larger is forgotten. */
/* truth: enlarge */
#include "corpus.h"

PLAIN char *message(void)
{
	return malloc(100);
}

PLAIN char *enlarge(char *p)
{
	return realloc(p, 4000);
}

static void step(int i)
{
	char *p = message();

	touch(p, 100);
	if (i % 8 == 0)
		p = enlarge(p);
	if (i % 16 != 0)
		free(p);
}
