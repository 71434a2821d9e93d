/* SPDX-License-Identifier: GPL-2.0-or-later */
/* getline() allocates, and nobody frees. */
/* truth: read_line */
#include "corpus.h"

char *line;

PLAIN void read_line(void)
{
	static char text[] = "first line\nsecond line\n";
	FILE *file = fmemopen(text, strlen(text), "r");
	size_t room = 0;

	line = NULL;
	if (getline(&line, &room, file) < 0)
		abort();
	fclose(file);
}

static void step(int i)
{
	if (i % 4 == 0)
		read_line();
}
