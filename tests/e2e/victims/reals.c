/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reals ROUNDS [handlers]: calls with floating-point arguments and results, of all
 * kinds that there are; with handlers that make such, too, wherever they come. It ends
 * with 7 if all results are right.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "reals.h"

static volatile sig_atomic_t wrong;

static void expect(int right)
{
	if (!right)
		wrong = wrong + 1;
}

static void handle(int signal)
{
	(void)signal;
	expect(ldexp(1.5, 4) == 24);
	expect(narrow(2, 0.25) == 0.5F);
}

static void own(int i)
{
	const double x = i + 0.25;

	expect(mix(i, x, "A", 0.5F, -3, 1e300) == i + x + 65 + 0.5F - 3 + 1e300);
	expect(narrow(1.5F, x) == 1.5F * (float)x);
	expect(four(x, 1, 2, 3) == x - 6);
	expect(five(x, 1, 2, 3, 4) == x - 10);
	expect(six_and_four(1, x, 2, 1, 3, 2, 4, 3, 5, 6) == 21 + x + 6);
	expect(stacked(1, 2, 3, 4, 5, 6, 7, x) == 4 + x);
	expect(rounded(-x) == -i);
	nothing(x);
	expect(from_nothing() == x);
	expect(wide(x, 2) == 2 * (long double)x);
	expect(goes_on(x, 5) == 5 - x - 1);
}

static void library(int i)
{
	const double x = i + 0.25;

	expect(pow(x, 2) == x * x);
	expect(fmod(x, 1) == 0.25);
	expect(sqrt(x * x) == x);
	expect(floorf(1.75F) == 1);
	expect(fma(x, 2, 1) == 2 * x + 1);
	expect(ldexp(x, 1) == 2 * x);
	expect(lround(x) == i);
	expect(copysign(x, -0.0) == -x);
	expect(isnan(strtod("nan", NULL)));
	expect(difftime(i, 1) == i - 1);
	expect(hypot(3, -4) == 5);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;
	const struct itimerval often = { { 0, 300 }, { 0, 300 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	if (argc > 2)
		setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 1; i <= rounds; i++) {
		own(i);
		library(i);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("wrong %d\n", (int)wrong);
	return wrong ? 1 : 7;
}
