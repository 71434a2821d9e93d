/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One thread makes tasks, three others take them from a queue and free them.
 */
#include "server.h"

#include <pthread.h>

struct task {
	struct task *next;
	char *argument;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *first, **last = &first;

static struct task *new_task(void)
{
	struct task *t = malloc(sizeof(*t));

	t->next = NULL;
	t->argument = malloc(32 + pick(200));
	return t;
}

static void put_task(struct task *t)
{
	pthread_mutex_lock(&lock);
	*last = t;
	last = &t->next;
	pthread_mutex_unlock(&lock);
}

static struct task *get_task(void)
{
	struct task *t;

	pthread_mutex_lock(&lock);
	t = first;
	if (t) {
		first = t->next;
		if (!first)
			last = &first;
	}
	pthread_mutex_unlock(&lock);
	return t;
}

static void *consumer(void *arg)
{
	struct task *t;

	while (serving(40)) {
		t = get_task();
		if (!t)
			continue;
		free(t->argument);
		free(t);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t consumers[3];

	serve_for(argc, argv);
	for (int i = 0; i < 3; i++)
		pthread_create(&consumers[i], NULL, consumer, NULL);
	while (serving(18))
		put_task(new_task());
	for (int i = 0; i < 3; i++)
		pthread_join(consumers[i], NULL);
	return 0;
}
