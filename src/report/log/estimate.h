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
		double ns, squares, blur, errors;
	} strata[ESTIMATE_RATES];
};

void estimate_add(struct call_estimate *estimate, const struct event *event);

/* Of one call, in the mean. */
struct estimated {
	bool known; /* enough were told of */
	double ns;
	double blur; /* ns isn't told from nothing if it is less */
	double errors;
};

struct estimated estimate_mean(const struct call_estimate *estimate);

/* The same, where those that were told of are all: it is no estimate. */
struct estimated estimate_all(const struct call_estimate *estimate);

#endif
