/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer grows until it is written. */
/* truth: none */
#include "corpus.h"

char *text;
size_t length;

PLAIN void add_line(void)
{
	text = realloc(text, length + 64);
	memset(text + length, 'x', 64);
	length += 64;
}

static void step(int i)
{
	add_line();
	if (i % 50 == 49) {
		free(text);
		text = NULL;
		length = 0;
	}
}
