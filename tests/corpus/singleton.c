/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made when it is first needed, kept for ever. */
/* truth: none */
#include "corpus.h"

char *instance;

PLAIN char *get_instance(void)
{
	if (!instance)
		instance = malloc(700);
	return instance;
}

static void step(int i)
{
	if (i > 40)
		touch(get_instance(), 700);
}
