/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Very many blocks that live very shortly. */
/* truth: none */
#include "corpus.h"

PLAIN char *temporary(void)
{
	return strdup("this won't take long");
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 20; k++)
		free(temporary());
}
