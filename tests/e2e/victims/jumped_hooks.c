/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jumped_hooks JUMPS: a timer's handler jumps so often out of what calls strtoul() and
 * strstr() all the time. Whoever watches these in the process is jumped out of as well.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static sigjmp_buf out;
static volatile sig_atomic_t inside;
static volatile unsigned long number;
static char *volatile sink;

static void on_alarm(int signal)
{
	(void)signal;
	if (inside) {
		inside = 0;
		siglongjmp(out, 1);
	}
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 700 }, { 0, 700 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	int jumps = argc > 1 ? atoi(argv[1]) : 1;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (jumps--) {
		if (sigsetjmp(out, 1))
			continue;
		inside = 1;
		for (;;) {
			number = strtoul("44", NULL, 10);
			sink = strstr("haystack", "stack");
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return 7;
}
