/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killed PAUSE [THREADS [report|block|own|share]]: calls ident() and labs(), and sleeps
 * so many microseconds between calls, until a line comes. report: with a handler of
 * SIGTRAP that ends it; block: all threads but the first block all signals, and begin
 * when there is a handler of SIGTRAP; own: has an int3 of its own after each call, and a
 * handler that counts them, and says how long one took at most; share: a child that runs in its memory, whose number it says,
 * does the same. Without its first byte ident() loses the upper
 * half of its argument: a task that is let run behind an int3 computes wrong results.
 */

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ident.h"

static volatile long own_traps = -1, seen_traps;
static long longest; /* that one took, in ms */

static void count_trap(int signal)
{
	(void)signal;
	seen_traps++;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void trap(void)
{
	const long since = now();

#ifdef __aarch64__
	raise(SIGTRAP);
#else
	__asm__ volatile("int3");
#endif
	if (now() - since > longest)
		longest = now() - since;
}

static int is_over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

static void *make_calls(void *argument)
{
	const useconds_t pause = *(useconds_t *)argument;
	long n, wrong = 0;

	for (n = 0; pause || n % 256 || !is_over(); n++) {
		long x = 0x123456780000000 + n;

		wrong += ident(x) != labs(x);
		if (own_traps >= 0) {
			trap();
			wrong += ++own_traps != seen_traps;
		}
		if (pause && is_over())
			break;
		if (pause)
			usleep(pause);
	}
	return (void *)wrong;
}

static void *make_late_calls(void *argument)
{
	static volatile int seen; /* the first call takes it away */
	struct sigaction action;

	do {
		usleep(1000);
		sigaction(SIGTRAP, NULL, &action);
		seen |= action.sa_handler != SIG_DFL;
	} while (!seen && !is_over());
	return make_calls(argument);
}

static void report(int signal)
{
	(void)signal;
	_exit(3);
}

static void make_threads(pthread_t *threads, int count, useconds_t *pause,
			 int block)
{
	sigset_t all, own;
	int i;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, block ? &all : NULL, &own);
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL,
			       block ? make_late_calls : make_calls, pause);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
}

static int live_in_it(void *pause)
{
	_exit(make_calls(pause) ? 9 : 7);
}

static pid_t make_sharer(useconds_t *pause)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	const pid_t pid = clone(live_in_it, stack + sizeof(stack),
				CLONE_VM | SIGCHLD, pause);

	printf("child %d\n", (int)pid);
	return pid;
}

int main(int argc, char **argv)
{
	useconds_t pause = argc > 1 ? atoi(argv[1]) : 0;
	int others = argc > 2 ? atoi(argv[2]) - 1 : 0;
	pthread_t threads[8];
	pid_t sharer = 0;
	int status;
	long wrong;
	void *result;

	if (argc > 3 && !strcmp(argv[3], "share"))
		sharer = make_sharer(&pause);
	if (argc > 3 && !strcmp(argv[3], "report"))
		signal(SIGTRAP, report);
	if (argc > 3 && !strcmp(argv[3], "own")) {
		own_traps = 0;
		signal(SIGTRAP, count_trap);
	}
	puts("ready");
	fflush(stdout);
	make_threads(threads, others, &pause,
		     argc > 3 && !strcmp(argv[3], "block"));
	wrong = (long)make_calls(&pause);
	while (others) {
		pthread_join(threads[--others], &result);
		wrong += (long)result;
	}
	if (own_traps >= 0)
		printf("longest %ld\n", longest);
	if (sharer)
		wrong += waitpid(sharer, &status, 0) != sharer ||
			 status != 7 << 8;
	return wrong ? 9 : 7;
}
