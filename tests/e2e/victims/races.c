/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * races exit: exit() while eight threads call.
 * races exec PROGRAM ARG...: a thread execs while four others call.
 * races threads: threads that call f1 100 times each come and go.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long f1(long i);
long f2(long i);

static char **command;

static void *forever(void *unused)
{
	for (long i = 0;; i++)
		f2(i);
	return unused;
}

static void *hundred(void *how)
{
	for (long i = 0; i < 100; i++)
		f1(i);
	if (how)
		pthread_exit(NULL);
	return NULL;
}

static void *become(void *unused)
{
	for (long i = 0; i < 100; i++)
		f1(i);
	execv(command[0], command);
	return unused;
}

static void start(int n, void *(*function)(void *))
{
	pthread_t id;

	while (n--)
		pthread_create(&id, NULL, function, NULL);
}

static void come_and_go(void)
{
	pthread_t ids[8];

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&ids[i], NULL, hundred,
				       (void *)(long)(i % 2));
		for (int i = 0; i < 8; i++)
			pthread_join(ids[i], NULL);
	}
	puts("count MAIN f1 16000");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "exit")) {
		start(8, forever);
		hundred(NULL);
		exit(7);
	}
	if (argc > 2 && !strcmp(argv[1], "exec")) {
		command = argv + 2;
		start(4, forever);
		start(1, become);
		pause();
	}
	come_and_go();
	return 7;
}
