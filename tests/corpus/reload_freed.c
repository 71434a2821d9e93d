/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new configuration replaces the old one, which is freed. */
/* truth: none */
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
	char *old = configuration;

	if (i % 45)
		return;
	configuration = load();
	free(old);
}
