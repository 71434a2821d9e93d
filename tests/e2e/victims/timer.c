/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timer CALLS MICROSECONDS [THREADS]: calls f1 CALLS times while a timer's
 * handler calls f2; threads do the same, each with a timer of its own.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

long f1(long i);
long f2(long i);

static long calls, period, wrong, handled;

static void on_timer(int signal)
{
	(void)signal;
	if (f2(5) != 6)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static timer_t start_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM,
	};
	struct itimerspec when = {
		.it_interval.tv_nsec = period * 1000,
		.it_value.tv_nsec = period * 1000,
	};
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &when, NULL))
		exit(2);
	return timer;
}

static void *work(void *unused)
{
	timer_t timer = start_timer();
	long bad = 0;

	for (long i = 0; i < calls; i++)
		bad += f1(i) != i + 1;
	timer_delete(timer);
	__atomic_add_fetch(&wrong, bad, __ATOMIC_SEQ_CST);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t ids[16];

	calls = argc > 1 ? atol(argv[1]) : 1000;
	period = argc > 2 ? atol(argv[2]) : 1000;
	signal(SIGALRM, on_timer);
	for (int i = 0; i < n && i < 16; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (int i = 0; i < n && i < 16; i++)
		pthread_join(ids[i], NULL);
	signal(SIGALRM, SIG_IGN);
	printf("count MAIN f1 %ld\ncount MAIN f2 %ld\n", n * calls, handled);
	return wrong ? 1 : 7;
}
