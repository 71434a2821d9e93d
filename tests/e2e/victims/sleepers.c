/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleepers THREADS [CALLS]: each waits in read, epoll_wait or pthread_cond_wait,
 * when so many calls of read and epoll_wait have been made that don't wait. When a
 * line has come, a third of them is woken, a third cancelled, and a third ends
 * by pthread_exit in a signal's handler, or, in C++, by an exception. Each has
 * something to clean up. 7 = all have ended as they had to.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MOST 256

static int inputs[MOST][2], polls[MOST], cleaned, returned;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int awake;

static void clean_up(void *context)
{
	__atomic_fetch_add((int *)context, 1, __ATOMIC_SEQ_CST);
}

static void unlock(void *context)
{
	pthread_mutex_unlock((pthread_mutex_t *)context);
}

static void wait_there(long own)
{
	struct epoll_event event;
	char byte;

	switch (own % 4) {
	case 0:
		if (read(inputs[own][0], &byte, 1) != 1)
			_exit(2);
		break;
	case 1:
		/* Who kills calltrap has the kernel end it early. */
		while (epoll_wait(polls[own], &event, 1, -1) != 1)
			if (errno != EINTR)
				_exit(3);
		break;
	case 2:
		pthread_mutex_lock(&mutex);
		pthread_cleanup_push(unlock, &mutex);
		while (!awake)
			pthread_cond_wait(&condition, &mutex);
		pthread_cleanup_pop(1);
		break;
	default:
		if (read(inputs[own][0], &byte, 1) != 1)
			_exit(4);
	}
}

static void *run(void *context)
{
	pthread_cleanup_push(clean_up, &cleaned);
	wait_there((long)context);
	__atomic_fetch_add(&returned, 1, __ATOMIC_SEQ_CST);
	pthread_cleanup_pop(1);
	return context;
}

#ifdef __cplusplus
struct leaves { };

static void *run_and_catch(void *context)
{
	try {
		return run(context);
	} catch (leaves &) {
		return PTHREAD_CANCELED;
	}
}

static void leave(int)
{
	throw leaves();
}
#else
#define run_and_catch run

static void leave(int signal)
{
	(void)signal;
	pthread_exit(PTHREAD_CANCELED);
}
#endif

static void begin(pthread_t *thread, long own)
{
	struct epoll_event event;

	event.events = EPOLLIN;
	event.data.u64 = 0;
	polls[own] = epoll_create1(0);
	if (pipe(inputs[own]) ||
	    epoll_ctl(polls[own], EPOLL_CTL_ADD, inputs[own][0], &event) ||
	    pthread_create(thread, NULL, run_and_catch, (void *)own))
		_exit(5);
}

/* Only where that may happen: handlers that throw need a call that waits. */
static void end(pthread_t thread, long own)
{
	if (own / 4 % 3 == 0) {
		if (write(inputs[own][1], "x", 1) != 1)
			_exit(6);
	} else if (own / 4 % 3 == 1 || own % 4 == 2) {
		pthread_cancel(thread);
	} else {
		pthread_kill(thread, SIGUSR1);
	}
}

static void call_often(long calls)
{
	struct epoll_event event;
	const int poll = epoll_create1(0);
	int input[2];
	char byte;

	if (pipe(input))
		_exit(9);
	while (calls-- > 0)
		if (write(input[1], "x", 1) != 1 ||
		    read(input[0], &byte, 1) != 1 ||
		    epoll_wait(poll, &event, 1, 0))
			_exit(9);
}

static int wait_for_line(void)
{
	char byte = 0;

	while (byte != '\n')
		if (read(0, &byte, 1) != 1)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 64;
	pthread_t threads[MOST];
	long i, ended = 0, wanted = 0;
	void *result;

	signal(SIGUSR1, leave);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	call_often(argc > 2 ? atol(argv[2]) : 0);
	for (i = 0; i < count; i++)
		begin(&threads[i], i);
	puts("waiting");
	fflush(stdout);
	wait_for_line();
	for (i = 0; i < count; i++)
		if (i % 4 != 2 || i / 4 % 3)
			end(threads[i], i);
	for (i = 0; i < count; i++) {
		if (i % 4 == 2 && i / 4 % 3 == 0)
			continue;
		pthread_join(threads[i], &result);
		ended += result == PTHREAD_CANCELED;
		wanted += i / 4 % 3 != 0;
	}
	pthread_mutex_lock(&mutex);
	awake = 1;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	for (i = 0; i < count; i++)
		if (i % 4 == 2 && i / 4 % 3 == 0)
			pthread_join(threads[i], &result);
	printf("%ld of %ld ended so, %d of %ld cleaned up, %d returned\n", ended,
	       wanted, cleaned, count, returned);
	return ended == wanted && cleaned == count &&
			       returned == count - wanted ?
		       7 :
		       1;
}
