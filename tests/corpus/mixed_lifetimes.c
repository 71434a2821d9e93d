/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for what stays and for what goes. */
/* truth: none */
#include "corpus.h"

char *settings[40];

PLAIN char *copy(const char *text)
{
	return strdup(text);
}

static void step(int i)
{
	if (i < 4)
		for (int k = 0; k < 10; k++)
			settings[i * 10 + k] = copy("a setting");
	for (int k = 0; k < 5; k++)
		free(copy("a temporary"));
}
