/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A thread for each request, with a buffer that a destructor frees when the
 * thread ends, one or two seconds later.
 */
#include "server.h"

#include <pthread.h>

static pthread_key_t key;

static char *thread_buffer(void)
{
	char *buffer = pthread_getspecific(key);

	if (!buffer) {
		buffer = malloc(1500);
		pthread_setspecific(key, buffer);
	}
	return buffer;
}

static void *answer(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++) {
		snprintf(thread_buffer(), 1500, "part %d", i);
		if (!serving(100 + pick(100)))
			break;
	}
	return NULL;
}

static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	pthread_create(&thread, &attr, answer, NULL);
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	pthread_key_create(&key, free);
	while (serving(120))
		start_thread();
	sleep(1);
	return 0;
}
