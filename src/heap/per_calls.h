/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PER_CALLS_H
#define CALLTRAP_PER_CALLS_H

#include "base/hash.h"
#include "heap/log_histogram.h"
#include "probe/prober.h"

/*
 * What each call of some functions, those that answer a request, say, has done:
 * what its thread has called of allocators meanwhile, and for what it has waited,
 * and what the kernel has counted. What one of them does within another is done
 * by both.
 */
struct per_calls;

/* What is measured of a call. */
enum per_figure {
	PER_TIME,      /* ns, without stops */
	PER_PROCESSOR, /* ns, by the kernel, with what stops took of it */
	PER_BLOCKS,    /* acquired, or resized */
	PER_BYTES,     /* … so many asked for */
	PER_USABLE,    /* … and got, by malloc_usable_size() */
	PER_RELEASES,
	PER_MINOR_FAULTS,
	PER_MAJOR_FAULTS,
	PER_DEVICE_READ, /* bytes … */
	PER_DEVICE_WRITTEN,
	PER_FIGURES,
};

/* A figure that isn't known. */
#define PER_UNKNOWN UINT64_MAX

/* Calls of one function within it. */
struct per_use {
	const struct function *function;
	uint64_t calls;
	uint64_t timed;    /* of these the time is known … */
	int64_t ns;        /* … in sum; see heap_mean_time() */
	uint64_t bytes;    /* that were asked for */
	UT_hash_handle hh; /* by function; in the order of the first calls */
};

/* One call that is over. */
struct per_call {
	const struct call *call;
	bool returned;
	uint64_t figures[PER_FIGURES];
	struct per_use *uses;
};

/* All calls of one function in one process. */
struct per_total_of {
	const struct function *function;
	uint64_t pid; /* of 64 bits: there is no padding */
};

struct per_total {
	struct per_total_of of;
	uint64_t calls;    /* that are over, … */
	uint64_t returned; /* … by a return */
	/* … of those, as far as they are known */
	struct log_histogram figures[PER_FIGURES];
	uint64_t sums[PER_FIGURES];
	struct per_use *uses;
	UT_hash_handle hh; /* by .of */
};

struct per_calls_options {
	const struct filter *functions;
	/* As prober_usable_size(). */
	bool (*usable)(void *context, const struct event *event, uint64_t block,
		       uint64_t *ret);
	/* A call is over; or NULL. */
	void (*told)(void *context, const struct per_call *call);
	/* What was told may be written. A process is gone, or (0) there is
	   nothing else to do. Or NULL. */
	void (*flush)(void *context, pid_t gone);
	void *context;
};

struct per_calls *
per_calls_new(const struct per_calls_options *options) MUST_CHECK;

/* Its freeing frees all. Behind the one that tells when processes are over. */
struct sink *per_calls_sink(struct per_calls *calls);

/* Those of a process that are known by now. */
const struct per_total *per_calls_next(const struct per_calls *calls, pid_t pid,
				       const struct per_total *after);

#endif
