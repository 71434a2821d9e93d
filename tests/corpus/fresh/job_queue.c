/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth: new_job */
#include "../corpus.h"

/* Threads take jobs from a queue; one that was cancelled meanwhile is taken out, and
   given back by nobody. */
struct job {
	struct job *next;
	int cancelled;
	char payload[200];
};

static struct job *first, **last = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

PLAIN static struct job *new_job(int cancelled)
{
	struct job *job = malloc(sizeof(*job));

	memset(job, 0, sizeof(*job));
	job->cancelled = cancelled;
	return job;
}

static struct job *take(void)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&filled, &lock);
	job = first;
	first = job->next;
	if (!first)
		last = &first;
	job->next = NULL;
	pthread_mutex_unlock(&lock);
	return job;
}

static void *work(void *unused)
{
	for (;;) {
		struct job *job = take();

		if (job->cancelled)
			continue;
		touch(job->payload, sizeof(job->payload));
		free(job);
	}
	return unused;
}

static void put(struct job *job)
{
	pthread_mutex_lock(&lock);
	*last = job;
	last = &job->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static void step(int i)
{
	pthread_t id;

	for (int n = 0; !i && n < 3; n++)
		pthread_create(&id, NULL, work, NULL);
	for (int n = 0; n < 10; n++)
		put(new_job(pick(20) == 0));
}
