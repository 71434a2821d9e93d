/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ESTIMATE_H
#define CALLTRAP_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/event.h"

/*
 * Of a function's calls some were told of, chosen at random, each for so many (struct
 * call_chosen); what all have in the mean is estimated from these.
 */
#define ESTIMATE_RATES 32

struct call_estimate {
	struct estimate_stratum {
		uint64_t calls;
		double weight; /* so many they stand for */
		double unsure; /* … and the variance of that number */
		double ns, squares, blur, errors;
		double waits;        /* for a processor, in .ns: maybe */
		double chance, wait; /* … in the mean, and a long one */
		double late; /* stops have waited for more than is known */
	} strata[ESTIMATE_RATES];
};

void estimate_add(struct call_estimate *estimate, const struct event *event);

/* Those that were timed anyway are apart from the ones that chance has chosen. */
void estimate_add_clocked(struct call_estimate *estimate,
			  const struct event *event);

/* Of one call, in the mean. */
struct estimated {
	bool known; /* enough were told of */
	double ns;
	double blur; /* … may be that much more or less */
	double errors;
	double late; /* stops have waited for more than is known of them */
};

struct estimated estimate_mean(const struct call_estimate *estimate);

/* The same of those that were clocked among so many. */
struct estimated estimate_some(const struct call_estimate *estimate,
			       double calls);

/* The same, where those that were told of are all: it is no estimate. */
struct estimated estimate_all(const struct call_estimate *estimate);

#endif
