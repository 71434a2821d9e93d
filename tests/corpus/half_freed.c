/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of each pair one is freed. */
/* truth: make */
#include "corpus.h"

PLAIN char *make(void)
{
	return malloc(48);
}

static void step(int i)
{
	char *a = make(), *b = make();

	(void)i;
	touch(a, 48);
	touch(b, 48);
	free(a);
}
