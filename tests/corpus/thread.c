/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each thread leaves a block behind. */
/* truth: worker */
#include "corpus.h"

PLAIN void *worker(void *unused)
{
	char *scratch = malloc(1000), *result = malloc(50);

	(void)unused;
	touch(scratch, 1000);
	touch(result, 50);
	free(scratch);
	return result;
}

static void step(int i)
{
	pthread_t thread;

	if (i % 6 == 0 && !pthread_create(&thread, NULL, worker, NULL))
		pthread_join(thread, NULL);
}
