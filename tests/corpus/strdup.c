/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of strings that nobody frees. */
/* truth: name */
#include "corpus.h"

char *last;

PLAIN void name(const char *text)
{
	last = strdup(text);
}

static void step(int i)
{
	if (i % 3 == 0)
		name("a name like any other");
}
