/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLAN_H
#define CALLTRAP_PLAN_H

#include <stdbool.h>

#include "base/types.h"

/*
 * What a replay does, as numbers, in memory that the process which does it
 * shares with the one that made it. That process must not acquire anything
 * for itself while it is measured: so all is there beforehand.
 */

enum replay_kind {
	REPLAY_MALLOC,
	REPLAY_CALLOC,
	REPLAY_ALIGNED, /* by posix_memalign() */
	REPLAY_REALLOC,
	REPLAY_FREE,
	REPLAY_KINDS,                /* the rest are no operations: */
	REPLAY_START = REPLAY_KINDS, /* of thread .block */
	REPLAY_JOIN,                 /* waits for the end of thread .block */
	REPLAY_NOTHING,
};

/* Blocks are numbered from 1 on; 0 is none. */
struct replay_op {
	uint64_t size;
	uint64_t when;      /* ns after the first one, in the recording */
	uint32_t block;     /* that comes to be; FREE: that is given back */
	uint32_t old;       /* REALLOC: that is given back */
	uint32_t alignment; /* ALIGNED */
	uint8_t kind;
	bool waits; /* what is given back is from another thread */
};

/* The first one is the process's first thread, and starts all others. */
struct replay_thread {
	uint64_t first, count; /* of its operations */
};

/* What the shared memory begins with; threads follow, and operations. */
struct replay_plan {
	uint64_t size; /* of all */
	uint64_t threads, ops;
	uint64_t blocks;
	bool touch;
	bool paced; /* nothing is done before its .when */
	bool has_aligned;
};

static inline const struct replay_thread *
replay_plan_threads(const struct replay_plan *plan)
{
	return (const struct replay_thread *)(plan + 1);
}

static inline const struct replay_op *
replay_plan_ops(const struct replay_plan *plan)
{
	return (const struct replay_op *)(replay_plan_threads(plan) +
					  plan->threads);
}

/* Times of one function's calls, in nanoseconds. */
struct replay_times {
	uint64_t count, total, half, most, max; /* most: 99 of 100 */
};

/* What was measured, in other such memory. */
struct replay_result {
	bool done;
	char problem[256];           /* why not; or empty */
	uint64_t wall, user, system; /* ns */
	uint64_t peak, final;        /* resident bytes */
	uint64_t minor_faults, major_faults;
	uint64_t operations;
	uint64_t conflicts; /* times that a thread had to wait for another */
	uint64_t failed;    /* acquired nothing here */
	struct replay_times times[REPLAY_KINDS];
};

#endif
