/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A thread for each request, whose buffer hangs on a thread variable: when the
 * thread ends, nobody frees it. What it says to the log is freed.
 */
#include "server.h"

#include <pthread.h>

static __thread char *buffer;

static char *thread_buffer(void)
{
	if (!buffer)
		buffer = malloc(900);
	return buffer;
}

static void log_request(void)
{
	char *line = strdup(thread_buffer());

	use(line);
	free(line);
}

static void *answer(void *arg)
{
	snprintf(thread_buffer(), 900, "answer %p", arg);
	log_request();
	serving(300);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	unsigned int i;

	serve_for(argc, argv);
	for (i = 0; serving(150); i++) {
		if (i >= 4)
			pthread_join(threads[i % 4], NULL);
		pthread_create(&threads[i % 4], NULL, answer, NULL);
	}
	for (unsigned int k = 0; k < 4 && k < i; k++)
		pthread_join(threads[k], NULL);
	return 0;
}
