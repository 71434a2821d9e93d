/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of a thread, under a key without a destructor. */
/* truth: buffer_of_thread */
#include "corpus.h"

pthread_key_t key;

PLAIN void buffer_of_thread(void)
{
	pthread_setspecific(key, malloc(512));
}

PLAIN void *run(void *unused)
{
	(void)unused;
	buffer_of_thread();
	return NULL;
}

static void step(int i)
{
	pthread_t thread;

	if (i == 0)
		pthread_key_create(&key, NULL);
	if (i % 10 == 0 && !pthread_create(&thread, NULL, run, NULL))
		pthread_join(thread, NULL);
}
