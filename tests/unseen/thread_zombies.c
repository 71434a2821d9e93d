/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Starts a thread for each message and neither joins nor detaches it: its
 * stack stays. Messages themselves are freed by the thread.
 */
#include "server.h"

#include <pthread.h>

static char *new_message(void)
{
	return strdup("you have mail");
}

static void *deliver(void *arg)
{
	use(arg);
	free(arg);
	return NULL;
}

static void start_delivery(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	pthread_create(&thread, &attr, deliver, new_message());
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(400))
		start_delivery();
	return 0;
}
