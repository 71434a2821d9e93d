/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records pile up and are written, and freed, together. */
/* truth: none */
#include "corpus.h"

#define BATCH 60

char *records[BATCH];
int used;

PLAIN char *record(void)
{
	return malloc(120);
}

static void step(int i)
{
	(void)i;
	records[used++] = record();
	if (used < BATCH)
		return;
	while (used)
		free(records[--used]);
}
