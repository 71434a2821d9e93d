/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/signals.h"

#include <sys/time.h>

#include "base/types.h"

#define TICK_MICROSECONDS 50000

/* A handler has no other way to find it. */
static struct signal_requests requests;

static void on_signal(int signal)
{
	switch (signal) {
	case SIGALRM:
		requests.tick = 1;
		break;
	case SIGINT:
		requests.interrupts++;
		break;
	default:
		requests.leave = 1;
		break;
	}
	requests.wake = 1;
}

/* A signal that was ignored when we began (nohup) stays so. */
static void handle(int signal)
{
	struct sigaction action = { .sa_handler = on_signal }, old;

	if (!sigaction(signal, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void start_ticking(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval interval = {
		.it_interval.tv_usec = TICK_MICROSECONDS,
		.it_value.tv_usec = TICK_MICROSECONDS,
	};

	sigfillset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
}

struct signal_requests *signals_start(void)
{
	static const int handled[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	/* A closed pipe is an error of the log, and no reason to die. */
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < ARRAY_SIZE(handled); i++)
		handle(handled[i]);
	start_ticking();
	return &requests;
}
