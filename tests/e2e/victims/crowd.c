/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that do nothing but call ident(), threads that come, call it and go,
 * and threads that wait; until a line comes. A call that was entered behind its
 * first byte loses the upper half of its argument. Prints `wrong N', and
 * `disturbed N': waits that ended without a cause.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ident.h"

#define BUSY    8
#define WAITING 4

static volatile int over;
static long wrong, disturbed;

static void call(long x)
{
	x += 0x123456780000000;
	if (ident(x) != x)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *be_busy(void *argument)
{
	long n;

	for (n = 0; !over; n++)
		call(n);
	return argument;
}

static void *be_brief(void *argument)
{
	call((long)argument);
	return NULL;
}

static void *wait_long(void *argument)
{
	struct epoll_event event;
	int *fds = argument, epoll = epoll_create1(0);

	event = (struct epoll_event){ .events = EPOLLIN };
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	while (epoll_wait(epoll, &event, 1, -1) != 1)
		__atomic_add_fetch(&disturbed, 1, __ATOMIC_SEQ_CST);
	close(epoll);
	return NULL;
}

static void make_brief_threads(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t thread;
	long n;

	for (n = 0; poll(&input, 1, 5) <= 0; n++) {
		if (pthread_create(&thread, NULL, be_brief, (void *)n))
			exit(3);
		pthread_join(thread, NULL);
	}
}

int main(void)
{
	pthread_t threads[BUSY + WAITING];
	int fds[2], i;

	if (pipe(fds))
		return 1;
	for (i = 0; i < BUSY + WAITING; i++)
		if (pthread_create(&threads[i], NULL,
				   i < BUSY ? be_busy : wait_long, fds))
			return 2;
	puts("ready");
	fflush(stdout);
	make_brief_threads();
	over = 1;
	close(fds[1]);
	for (i = 0; i < BUSY + WAITING; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %ld\ndisturbed %ld\n", wrong, disturbed);
	return 7;
}
