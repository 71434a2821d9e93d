/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A consumer that stands still for eleven seconds while orders come in, then
 * works through all of them, and keeps up for four seconds.
 */
#include "server.h"

#include <pthread.h>

struct order {
	struct order *next;
	char text[150];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct order *first, **last = &first;

static void take_order(unsigned int number)
{
	struct order *o = malloc(sizeof(*o));

	snprintf(o->text, sizeof(o->text), "order %u", number);
	o->next = NULL;
	pthread_mutex_lock(&lock);
	*last = o;
	last = &o->next;
	pthread_mutex_unlock(&lock);
}

static void work_through(void)
{
	struct order *o;

	pthread_mutex_lock(&lock);
	o = first;
	first = NULL;
	last = &first;
	pthread_mutex_unlock(&lock);
	while (o) {
		struct order *next = o->next;

		free(o);
		o = next;
	}
}

static void *consumer(void *arg)
{
	while (serving(50))
		if ((int)uptime() % 15 < 4)
			work_through();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	serve_for(argc, argv);
	pthread_create(&thread, NULL, consumer, NULL);
	for (unsigned int i = 0; serving(30); i++)
		take_order(i);
	pthread_join(thread, NULL);
	work_through();
	return 0;
}
