/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a request needs is in chunks that are freed with it. */
/* truth: none */
#include "corpus.h"

struct chunk {
	struct chunk *next;
	char data[2000];
} * chunks;

PLAIN void more(void)
{
	struct chunk *chunk = malloc(sizeof(*chunk));

	chunk->next = chunks;
	chunks = chunk;
}

PLAIN void reset(void)
{
	while (chunks) {
		struct chunk *next = chunks->next;

		free(chunks);
		chunks = next;
	}
}

static void step(int i)
{
	more();
	if (i % 12 == 11)
		reset();
}
