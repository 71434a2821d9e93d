/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: scratch */
#include "../corpus.h"

/* Threads that live briefly have a buffer each, which nobody gives back when they
   end; what they work with otherwise they do. */
static __thread char *buffer;

PLAIN static char *scratch(void)
{
	if (!buffer)
		buffer = malloc(1500);
	return buffer;
}

PLAIN static char *line(unsigned size)
{
	char *text = malloc(size);

	memset(text, 'a', size);
	return text;
}

static void *serve(void *unused)
{
	for (unsigned i = 0; i < 5; i++) {
		char *text = line(100 + i);

		memcpy(scratch(), text, 100);
		free(text);
	}
	return unused;
}

static void step(int i)
{
	pthread_t ids[2];

	(void)i;
	for (int n = 0; n < 2; n++)
		pthread_create(&ids[n], NULL, serve, NULL);
	for (int n = 0; n < 2; n++)
		pthread_join(ids[n], NULL);
}
