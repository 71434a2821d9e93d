/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue that is often full, and whose entries wait long. */
/* truth: none */
#include "corpus.h"

#define ROOM 60

char *queue[ROOM];
int used;

PLAIN void put(void)
{
	queue[used++] = malloc(300);
}

PLAIN void get(void)
{
	free(queue[0]);
	used--;
	memmove(queue, queue + 1, used * sizeof(*queue));
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 3; k++) {
		if (used < ROOM && pick(2))
			put();
		else if (used && pick(3) == 0)
			get();
	}
}
