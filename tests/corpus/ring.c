/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring of messages: each lives until it is overwritten. */
/* truth: none */
#include "corpus.h"

#define SLOTS 50

char *ring[SLOTS];

PLAIN char *message(void)
{
	return strdup("a message of no importance");
}

static void step(int i)
{
	for (int k = 0; k < 2; k++) {
		int at = (2 * i + k) % SLOTS;

		free(ring[at]);
		ring[at] = message();
	}
}
