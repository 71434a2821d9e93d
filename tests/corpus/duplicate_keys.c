/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A key that was there already is forgotten. */
/* truth: key */
#include "corpus.h"

char *keys[50];

PLAIN char *key(int number)
{
	char text[20];

	snprintf(text, sizeof(text), "key %d", number);
	return strdup(text);
}

static void step(int i)
{
	int used = 0;

	for (int k = 0; k < 8; k++) {
		if (pick(20) == 0 && used)
			keys[used - 1] = key(i);
		else
			keys[used++] = key(i);
	}
	while (used)
		free(keys[--used]);
}
