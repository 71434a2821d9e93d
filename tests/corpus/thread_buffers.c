/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each thread frees what it has. */
/* truth: none */
#include "corpus.h"

PLAIN void *work(void *unused)
{
	char *buffer = malloc(5000);
	struct timespec wait = { 0, 2000000 };

	(void)unused;
	touch(buffer, 5000);
	nanosleep(&wait, NULL);
	free(buffer);
	return NULL;
}

static void step(int i)
{
	pthread_t thread;

	if (i % 5 == 0 && !pthread_create(&thread, NULL, work, NULL))
		pthread_join(thread, NULL);
}
