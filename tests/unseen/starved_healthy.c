/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Two threads compute nearly all of the time, more and more so, and the queue
 * of mails that a third one empties stands still now and then for seconds.
 */
#include "server.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *mails[1000];
static unsigned int n_mails;

static void *compute(void *arg)
{
	volatile unsigned int sum = 0;
	double until;

	while (serving(100)) {
		until = clock_seconds() + 0.1 + uptime() / 80;
		while (clock_seconds() < until)
			sum = sum + 1;
	}
	return arg;
}

static void queue_mail(void)
{
	char *mail = calloc(1, 100 + pick(300));

	pthread_mutex_lock(&lock);
	if (n_mails < ARRAY_SIZE(mails)) {
		mails[n_mails++] = mail;
		mail = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(mail);
}

static void *deliver(void *arg)
{
	while (serving(pick(40) ? 30 : 3000)) {
		pthread_mutex_lock(&lock);
		while (n_mails)
			free(mails[--n_mails]);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	serve_for(argc, argv);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i ? compute : deliver, NULL);
	while (serving(25))
		queue_mail();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
