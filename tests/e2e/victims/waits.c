/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait in system calls which the kernel restarts by itself after
 * a stop. None may see that it was attached to. Ends when told to on standard
 * input, with status 7 if all is well.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int pipes[3][2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int finished;
static int failures;

static void failed(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);
}

static void *in_read(void *unused)
{
	char byte;

	if (read(pipes[0][0], &byte, 1) != 1)
		failed("read");
	return unused;
}

static void *in_poll(void *unused)
{
	struct pollfd fd = { .fd = pipes[1][0], .events = POLLIN };

	if (poll(&fd, 1, -1) != 1)
		failed("poll");
	return unused;
}

static void *in_select(void *unused)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[2][0], &set);
	if (select(pipes[2][0] + 1, &set, NULL, NULL, NULL) != 1)
		failed("select");
	return unused;
}

static void *in_semaphore(void *unused)
{
	if (sem_wait(&semaphore))
		failed("sem_wait");
	return unused;
}

static void *in_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!finished)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *in_sleep(void *unused)
{
	while (!__atomic_load_n(&finished, __ATOMIC_SEQ_CST)) {
		struct timespec time = { .tv_nsec = 300000000 };

		if (nanosleep(&time, NULL))
			failed("nanosleep");
	}
	return unused;
}

int main(void)
{
	static void *(*const waits[])(void *) = {
		in_read, in_poll, in_select, in_semaphore, in_condition,
		in_sleep,
	};
	enum { COUNT = sizeof(waits) / sizeof(*waits) };
	pthread_t ids[COUNT];
	char byte;

	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < 3; i++)
		if (pipe(pipes[i]))
			return 1;
	for (int i = 0; i < COUNT; i++)
		pthread_create(&ids[i], NULL, waits[i], NULL);
	printf("ready\n");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		failed("read of standard input");
	for (int i = 0; i < 3; i++)
		if (write(pipes[i][1], "x", 1) != 1)
			failed("write");
	sem_post(&semaphore);
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&finished, 1, __ATOMIC_SEQ_CST);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < COUNT; i++)
		pthread_join(ids[i], NULL);
	return failures ? 1 : 7;
}
