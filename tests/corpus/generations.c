/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Young blocks go often, those that survive go together. */
/* truth: none */
#include "corpus.h"

char *young[40], *old[400];
int young_count, old_count;

PLAIN char *allocate(void)
{
	return malloc(96);
}

static void step(int i)
{
	for (int k = 0; k < 3; k++)
		young[young_count++] = allocate();
	if (i % 10 == 9) {
		for (int k = 0; k < young_count; k++) {
			if (k % 5)
				free(young[k]);
			else
				old[old_count++] = young[k];
		}
		young_count = 0;
	}
	if (i % 90 == 89)
		while (old_count)
			free(old[--old_count]);
}
