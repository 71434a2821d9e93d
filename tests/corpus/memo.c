/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results are kept; there are only so many questions. */
/* truth: none */
#include "corpus.h"

char *answers[64];

PLAIN char *answer(void)
{
	return malloc(33);
}

static void step(int i)
{
	unsigned question = i < STEPS / 2 ? pick(64) : i % 64u;

	if (i > STEPS * 2 / 3)
		question = pick(64);
	if (!answers[question])
		answers[question] = answer();
}
