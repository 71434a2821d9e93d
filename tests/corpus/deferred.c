/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is freed is freed later, and many at once. */
/* truth: none */
#include "corpus.h"

#define MANY 30

char *waiting[MANY];
int used;

PLAIN char *item(void)
{
	return malloc(222);
}

static void step(int i)
{
	char *p = item();

	(void)i;
	touch(p, 222);
	waiting[used++] = p;
	if (used == MANY) {
		for (int k = 0; k < MANY - 5; k++)
			free(waiting[k]);
		memmove(waiting, waiting + MANY - 5, 5 * sizeof(*waiting));
		used = 5;
	}
}
