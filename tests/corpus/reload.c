/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new configuration replaces the old one, which stays. */
/* truth: load */
#include "corpus.h"

char *configuration;

PLAIN char *load(void)
{
	char *text = malloc(3000);

	touch(text, 3000);
	return text;
}

static void step(int i)
{
	if (i % 25 == 0)
		configuration = load();
}
