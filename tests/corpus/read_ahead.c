/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window that grows to its size, then breathes. */
/* truth: none */
#include "corpus.h"

char *window[64];
int used;

PLAIN char *buffer(void)
{
	return malloc(4096);
}

static void step(int i)
{
	int wanted = i < 90 ? i * 64 / 90 : 32 + (i * 7) % 32;

	while (used < wanted)
		window[used++] = buffer();
	while (used > wanted)
		free(window[--used]);
}
