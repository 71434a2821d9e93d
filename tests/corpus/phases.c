/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two phases, each with its own data. */
/* truth: none */
#include "corpus.h"

char *first[200], *second[200];

PLAIN char *first_phase(void)
{
	return malloc(500);
}

PLAIN char *second_phase(void)
{
	return malloc(700);
}

static void step(int i)
{
	if (i < 100) {
		first[i] = first_phase();
	} else if (i == 100) {
		for (int k = 0; k < 100; k++)
			free(first[k]);
	} else if (i < 180) {
		second[i] = second_phase();
	} else if (i == 200) {
		for (int k = 101; k < 180; k++)
			free(second[k]);
	}
}
