/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first thread blocks all signals, the second one runs into a trap of its own for
 * each line that it is told, and handles it. Given "ignores", SIGTRAP is ignored by all,
 * and sent to the first thread instead; given "deaf", both block all signals, and nothing
 * handles any.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_trap(int signal)
{
	(void)signal;
	handled++;
}

static void *work(void *whom)
{
	char line[64];

	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (whom)
			pthread_kill(*(pthread_t *)whom, SIGTRAP);
		else
			__asm__ volatile("int3");
		printf("handled %d\n", (int)handled);
		fflush(stdout);
	}
	_exit(7);
}

int main(int argc, char **argv)
{
	const int ignores = argc > 1 && !strcmp(argv[1], "ignores");
	const int deaf = argc > 1 && !strcmp(argv[1], "deaf");
	pthread_t self = pthread_self(), thread;
	sigset_t all;

	(void)argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTRAP, deaf ? SIG_DFL : ignores ? SIG_IGN : on_trap);
	sigfillset(&all);
	if (deaf)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&thread, NULL, work, argc > 1 ? &self : NULL);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_join(thread, NULL);
	return 0;
}
