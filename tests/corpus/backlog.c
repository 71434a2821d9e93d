/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is produced is consumed, but too slowly. */
/* truth: produce */
#include "corpus.h"

struct job {
	struct job *next;
	char data[200];
} * first, **end = &first;

PLAIN void produce(void)
{
	struct job *job = malloc(sizeof(*job));

	job->next = NULL;
	*end = job;
	end = &job->next;
}

PLAIN void consume(void)
{
	struct job *job = first;

	if (!job)
		return;
	first = job->next;
	if (!first)
		end = &first;
	free(job);
}

static void step(int i)
{
	(void)i;
	for (int k = 0; k < 5; k++)
		produce();
	for (int k = 0; k < 3; k++)
		consume();
}
