/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COST_H
#define CALLTRAP_COST_H

#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/linux/procfs.h"
#include "tracee/price.h"

struct task;
struct tracer;

/* What being traced has cost a thread. */
struct thread_cost {
	pid_t pid, tid;
	char name[PROCFS_COMM_ROOM]; /* or "", when it has gone */
	uint64_t stops;
	uint64_t still_ns; /* how long it stood still because of these */
	uint64_t seen_ns;  /* how long it has been traced */
};

#define COST_THREADS 4

struct cost {
	uint64_t stops; /* of all threads */
	struct stop_price price;
	/* Those that stood still for longest, in that order. */
	struct thread_cost threads[COST_THREADS];
	unsigned thread_count;
	bool more; /* there are others that stood still */
};

/* Of those that have ended, the ones that have to be remembered. */
struct cost_record {
	struct thread_cost threads[4 * COST_THREADS];
	unsigned count;
};

/* What a process has cost by now, or (0) all of them. */
void cost_find(struct tracer *tracer, pid_t pid, uint64_t now,
	       struct cost *ret);

/* A task begins; and it has stopped a number of times more. */
void cost_begin(struct task *task);
void cost_look(struct tracer *tracer, struct task *task);

/* Stops after which it is to be looked at. */
#define COST_WINDOW 256

/* A task ends, or is let go. */
void cost_keep(struct tracer *tracer, struct task *task);

/* A process begins another program: its threads begin anew. */
void cost_begin_anew(struct tracer *tracer, struct task *leader);

/* How much of its time the thread stood still, 0 to 1. */
double cost_share(const struct thread_cost *cost);

#endif
