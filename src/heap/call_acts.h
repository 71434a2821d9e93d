/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CALL_ACTS_H
#define CALLTRAP_CALL_ACTS_H

#include <stdbool.h>

#include "heap/act_observer.h"

/*
 * From events to numbers: makes acts of the calls of families' functions, which
 * heap/apply.h takes. Calls that run are kept until they return. Initialised by { .stacks = … }.
 */
#define CALL_ACTS_CALLERS 1024

struct known_caller {
	stack_id stack;
	const char *library; /* or NULL */
};

struct call_acts {
	const struct stacks *stacks;
	struct act_observer *observer; /* or NULL */
	bool off;                      /* what is acquired now isn't kept */
	watch_kept *kept;              /* is told of samples; or NULL */
	void *context;
	struct pending *pending; /* calls that run */
	struct pending *spare;   /* of one that is over, or NULL */
	/* By stack: whose code has called. */
	struct known_caller callers[CALL_ACTS_CALLERS];
};

void call_acts_fini(struct call_acts *acts);

/* Events of functions that have a subject: EVENT_CALL, _RETURN, _ABANDON. */
void call_acts_begin(struct call_acts *acts, struct watched *process,
		     const struct event *event);
void call_acts_end(struct call_acts *acts, struct watched *process,
		   const struct event *event);
void call_acts_whole(struct call_acts *acts, struct watched *process,
		     const struct whole_call *call);
/* What one that gives back is about to be asked for will be near then. */
void call_acts_expect(const struct watched *process,
		      const struct family_function *function,
		      const uint64_t arguments[WHOLE_ARGUMENTS]);
void call_acts_abandon(struct call_acts *acts, struct watched *process,
		       const struct event *event);

#endif
