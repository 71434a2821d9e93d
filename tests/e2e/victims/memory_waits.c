/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/*
 * Threads that wait, and say if a wait was interrupted; one that works; and
 * signals that are sent and counted. On each line read: says what there was.
 */
static volatile unsigned interrupted, received, sent;
static volatile unsigned long worked;

static void count(int number)
{
	(void)number;
	received++;
}

static void *wait_for_events(void *unused)
{
	const int set = epoll_create1(0);
	struct epoll_event event;

	for (;;)
		if (epoll_wait(set, &event, 1, 100000) < 0 && errno == EINTR)
			interrupted++;
	return unused;
}

static void *wait_for_bytes(void *unused)
{
	int ends[2];
	char c;

	if (pipe(ends))
		abort();
	for (;;)
		if (read(ends[0], &c, 1) < 0)
			interrupted++;
	return unused;
}

static void *sleep_briefly(void *unused)
{
	const struct timespec pause = { .tv_nsec = 3000000 };

	for (;;)
		if (nanosleep(&pause, NULL))
			interrupted++;
	return unused;
}

static void *work(void *unused)
{
	for (;;) {
		char *p = malloc(100 + worked % 5000);

		*(volatile char *)p = 1;
		free(p);
		worked++;
	}
	return unused;
}

static void *send(void *to)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (;;) {
		const unsigned before = received;

		sent++;
		pthread_kill(*(pthread_t *)to, SIGUSR1);
		while (received == before)
			nanosleep(&pause, NULL);
	}
	return to;
}

int main(void)
{
	void *(*const jobs[])(void *) = { wait_for_events, wait_for_bytes,
					  sleep_briefly, work, work };
	struct sigaction action = { .sa_handler = count,
				    .sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), id;
	char line[16];

	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		pthread_create(&id, NULL, jobs[i], NULL);
	pthread_create(&id, NULL, send, &self);
	dprintf(1, "ready\n");
	while (read(0, line, sizeof(line)) > 0)
		dprintf(1, "interrupted %u lost %d worked %d\n", interrupted,
			sent > received + 1, worked > 0);
	_exit(0);
}
