/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last commands, some of which are long. */
/* truth: none */
#include "corpus.h"

#define LAST 25

char *commands[LAST];

PLAIN char *command(int number)
{
	char text[200];

	memset(text, 'c', sizeof(text));
	text[10 + number * 7 % 180] = 0;
	return strdup(text);
}

static void step(int i)
{
	if (i % 3)
		return;
	free(commands[0]);
	memmove(commands, commands + 1, (LAST - 1) * sizeof(*commands));
	commands[LAST - 1] = command(i);
}
