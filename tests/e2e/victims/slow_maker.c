/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow_maker: threads that call ident(), make a child that does, and wait for that as in
 * vfork(), one after the other. Most of the time a network is being made for the child,
 * which takes a while, and a right (else none is made). A byte ends it, with status 7.
 */

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ident.h"

#define THREADS 8

static volatile int over;

static int in_child(void *number)
{
	_exit((int)ident((long)number));
}

static void *make_children(void *unused)
{
	char stack[1 << 14] __attribute__((aligned(16)));
	int flags = CLONE_VM | CLONE_VFORK | CLONE_NEWNET | SIGCHLD;

	while (!over) {
		int status = -1;
		const pid_t pid = clone(in_child, stack + sizeof(stack), flags,
					(void *)ident(3));

		if (pid < 0 && flags & CLONE_NEWNET)
			flags &= ~CLONE_NEWNET;
		else if (waitpid(pid, &status, 0) != pid || status != 3 << 8)
			printf("status 0x%x\n", status);
	}
	return unused;
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t threads[THREADS];
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_children, NULL);
	puts("ready");
	poll(&input, 1, -1);
	over = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
