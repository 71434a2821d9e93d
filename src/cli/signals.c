/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/signals.h"

#include <stdbool.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/front.h"
#include "tracee/guardian.h"

#define TICK               (50 * 1000 * 1000)
#define NS_PER_MICROSECOND 1000

/* A handler has no other way to find them. */
static struct signal_requests requests;

/*
 * That is one system call, so a handler may do it. timer_create() would count
 * as a waiting signal of the user's, of whom there may be too many already
 * (RLIMIT_SIGPENDING).
 */
static void start_timer(uint64_t first)
{
	uint64_t us = (first + NS_PER_MICROSECOND - 1) / NS_PER_MICROSECOND;
	const struct itimerval when = {
		.it_value.tv_sec = us / 1000000,
		.it_value.tv_usec = us % 1000000,
		.it_interval.tv_usec = first ? TICK / NS_PER_MICROSECOND : 0,
	};

	setitimer(ITIMER_REAL, &when, NULL);
}

void signals_tick(void)
{
	if (requests.ticking)
		return;
	requests.ticking = 1;
	start_timer(TICK);
}

void signals_rest(void)
{
	uint64_t now = clock_now(), then = requests.deadline;

	requests.ticking = 0;
	if (requests.alarm && (!then || requests.alarm < then))
		then = requests.alarm;
	if (!then)
		start_timer(0);
	else
		start_timer(then > now ? then - now : TICK);
}

/* clock_gettime() may be called here (signal-safety(7)). */
static bool must_leave(int signal)
{
	switch (signal) {
	case SIGINT:
		return ++requests.interrupts > requests.tolerated;
	case SIGQUIT:
		requests.reports++;
		return !requests.takes;
	case SIGUSR1:
		requests.switches++;
		return !requests.takes;
	case SIGTSTP:
		requests.suspend = 1;
		return false;
	case SIGALRM:
		return requests.deadline && clock_now() >= requests.deadline;
	default:
		if (signal == FRONT_GONE)
			requests.front_gone = 1;
		if (signal == GUARDIAN_LIFTED)
			requests.lifted = 1;
		return true;
	}
}

/* What is sent to the whole process group comes from the front, too. */
#define COPY_AGE (20 * 1000 * 1000)

static bool is_copy(int signal, const siginfo_t *info)
{
	static struct {
		int signal;
		bool passed_on;
		uint64_t time;
	} last;
	bool passed_on = info->si_code == SI_USER && info->si_pid == getppid();
	uint64_t now = clock_now();
	bool copy = signal == last.signal && passed_on != last.passed_on &&
		    now - last.time < COPY_AGE;

	last.signal = copy ? 0 : signal;
	last.passed_on = passed_on;
	last.time = now;
	return copy;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (signal != SIGALRM && is_copy(signal, info))
		return;
	if (must_leave(signal))
		requests.leave = 1;
	requests.wake = 1;
	if (signal != SIGALRM)
		start_timer(TICK);
}

/* Whoever started us may have had it blocked. */
static void install(int signal)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO,
	};
	sigset_t set;

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* A signal that was ignored when we began (nohup) stays so. */
static void install_unless_ignored(int signal)
{
	struct sigaction old;

	if (sigaction(signal, NULL, &old) || old.sa_handler != SIG_IGN)
		install(signal);
}

void signals_take(void)
{
	requests.takes = 1;
	/* A shell has its background jobs ignore SIGQUIT. */
	install(SIGQUIT);
	install(SIGUSR1);
}

/* Ignored by a shell without job control, for what runs in its background. */
void signals_take_stop(void)
{
	install_unless_ignored(SIGTSTP);
	signal(SIGTTOU, SIG_IGN);
}

/* The kernel's own way: nobody would continue an orphan that was stopped. */
void signals_stop(void)
{
	struct sigaction own, usual = { .sa_handler = SIG_DFL };

	sigaction(SIGTSTP, &usual, &own);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &own, NULL);
	requests.suspend = 0;
}

/* All that end a program but SIGKILL, SIGINT and those of crashes. */
static const int ends[] = { SIGTERM, SIGHUP,    SIGQUIT,  SIGUSR1,
			    SIGUSR2, SIGXCPU,   SIGPWR,   SIGIO,
			    SIGPROF, SIGVTALRM, SIGSTKFLT };

void signals_hold(sigset_t *former_ret)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, former_ret);
}

/* What has a handler of ours is let through, whoever has blocked it. */
static void let_through(const sigset_t *former)
{
	sigset_t mask = *former;
	int number;

	for (number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (!sigaction(number, NULL, &action) &&
		    action.sa_flags & SA_SIGINFO &&
		    action.sa_sigaction == on_signal)
			sigdelset(&mask, number);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

struct signal_requests *signals_start(const sigset_t *former)
{
	size_t i;

	/*
	 * A closed pipe, or a file that may not grow any more (ulimit -f), is an
	 * error of the log, and no reason to die.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Ignored, a child that ends would leave no status. */
	signal(SIGCHLD, SIG_DFL);
	install(SIGALRM);
	/* A shell has its background jobs ignore it; scripts send it to them. */
	install(SIGINT);
	install(FRONT_GONE);
	install(GUARDIAN_LIFTED);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		install_unless_ignored(ends[i]);
	let_through(former);
	return &requests;
}
