/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLANNER_H
#define CALLTRAP_PLANNER_H

#include "heap/act_observer.h"
#include "replay/plan.h"

/* Makes a plan of what malloc's family did in a process. */
struct planner;

/* What the recording has, beside what is in the plan. */
struct plan_counts {
	pid_t pid;
	uint64_t others; /* processes that are left out */
	uint64_t ops[REPLAY_KINDS];
	uint64_t operations; /* all of them */
	uint64_t threads;
	uint64_t skipped;     /* releases of blocks of before */
	uint64_t adopted;     /* resizes of such: they acquire instead */
	uint64_t failed;      /* acquired nothing then; left out */
	uint64_t unseen;      /* releases that must have been: added */
	uint64_t handed;      /* given back by another thread */
	uint64_t peak, final; /* bytes asked for that were live at once, and
				    at the end */
	uint64_t span;        /* ns from the first one to the last */
};

/* How it is to be done. */
struct plan_manner {
	bool touch; /* each page of a block */
	bool paced; /* no call before its time */
};

struct planner *planner_new(void) MUST_CHECK;
void planner_free(struct planner *planner);
struct act_observer *planner_observer(struct planner *planner);

/*
 * The plan of the process with the most operations, in memory that a child gets
 * by its descriptor. -ENODATA: there are none; -EFBIG: they are too many.
 */
int planner_take(struct planner *planner, const struct plan_manner *manner,
		 int *fd_ret, struct plan_counts *counts_ret) MUST_CHECK;

#endif
