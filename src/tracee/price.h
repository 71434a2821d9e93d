/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PRICE_H
#define CALLTRAP_PRICE_H

#include <stdbool.h>

#include "base/types.h"

/*
 * What a stop costs a task besides the time that we keep it for: the kernel's
 * way into the stop and out again, the switches to us and back, the waits for
 * a processor. Nobody can read that off a clock, for the program may be at
 * work in between. But some of what is trapped takes no time at all (the inside
 * of strlen), so wherever the way from one stop to the next is as short as that
 * of a process which does nothing but stop, what lies between is the price. It
 * differs by a factor of ten with the processors that tracer and task run on,
 * and with all else that runs; so it is taken from the target's own stops, and
 * from calibration as long as they tell nothing.
 */

/* Nanoseconds. */
struct stop_price {
	uint64_t least;      /* a quarter of the stops cost less */
	uint64_t typical;    /* half of them */
	uint64_t others;     /* … of that: while we work for others */
	uint64_t mean;       /* without the waits for a processor */
	uint64_t waits;      /* these, in the mean: the task's and ours */
	uint64_t ran;        /* the task, on a processor; 0: not known */
	uint64_t resolution; /* a time that was measured is off by so much */
	uint64_t deviation; /* … and for each further stop; the standard one */
};

/* What a task's stops have come to, all that it has had so far. */
struct stop_sums {
	uint64_t count;      /* this one included */
	uint64_t stopped_ns; /* how long it was kept in those before */
	uint64_t waits_ns; /* … and waited for a processor because of them */
	/* What the ways to them have cost, each by the price of its time: it
	   changes when the task gets away to another processor. */
	uint64_t least_ns; /* price_guess() */
	uint64_t mean_ns;
};

/* Of a process that does nothing but stop. */
struct price_gauge {
	struct stop_price same;  /* on one processor with the tracer */
	struct stop_price other; /* on another one */
};

#define PRICE_OCTAVES 20 /* from 1 ns << PRICE_FIRST on */
#define PRICE_FIRST   8
#define PRICE_PARTS   4
#define PRICE_BUCKETS (PRICE_OCTAVES * PRICE_PARTS)

/* The ways from one stop of a task to its next one, as counts of their time. */
struct price_ways {
	taddr_t from; /* where the task was stopped */
	bool near;    /* … and whether on the processor that we run on */
	uint32_t count;
	uint64_t others; /* … of what we worked for others meanwhile */
	uint16_t buckets[PRICE_BUCKETS]; /* of the ways without that */
};

#define PRICE_PLACES 64

struct price {
	struct price_gauge gauge;
	bool near; /* the task that stopped last runs on our processor */
	uint64_t waits;
	struct stop_price now;
	unsigned samples;
	struct price_ways places[PRICE_PLACES];
};

/* Until tasks stop it is what the gauge says. */
void price_init(struct price *price, const struct price_gauge *gauge);

/*
 * A task that was resumed at an address has stopped at another one after so
 * long. others: how much of that we worked for others, so it may have waited
 * for us. near: it runs on the processor that we run on.
 */
void price_note(struct price *price, taddr_t from, uint64_t way,
		uint64_t others, bool near);

/*
 * What the kernel has counted: so long did a task and we wait for a processor,
 * for each stop, in the mean.
 */
void price_note_waits(struct price *price, uint64_t waits);

/*
 * What a stop has cost, at least. What is dear is the exception, and a call
 * that sleeps for long doesn't have more of it; nor does it wait for us,
 * whatever we worked for others meanwhile, for longer than others do.
 */
uint64_t price_guess(const struct stop_price *price, uint64_t others);

/* Of a call with so many: the more of them, the nearer they come to the mean. */
uint64_t price_guess_sum(uint64_t least, uint64_t mean, uint64_t stops);

/* How far off a time is from which the price of so many was subtracted. */
uint64_t price_resolution(const struct stop_price *price, uint64_t stops);

/* For gauges. */
void price_ways_add(struct price_ways *ways, uint64_t way, uint64_t others);

/*
 * What a number of such ways says, as if nobody else had used the machine. sum: of
 * them; waited: how much of that the kernel says was for a processor.
 */
struct stop_price price_ways_bare(const struct price_ways *ways, uint64_t sum,
				  uint64_t waited);

#endif
