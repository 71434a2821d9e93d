/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ACT_OBSERVER_H
#define CALLTRAP_ACT_OBSERVER_H

#include "heap/watch.h"

/* Somebody who wants to know of each act, beside the heap. */
struct act_observer {
	const struct act_observer_ops *ops;
};

/* An act, and what the heap has made of it. */
struct observed_act {
	const struct watched *process;
	const struct heap_act *act;
	struct heap_outcome outcome;
	uint64_t entered; /* monotonic; act->begin comes later, by the stops
			     that are in the call's time */
	uint64_t token;   /* what .taken has returned, or 0 */
};

/* What there is to tell of a process, besides acts. */
enum watch_news {
	WATCH_SAMPLED,  /* its .vitals are new */
	WATCH_SWITCHED, /* counting; since: whether it is on now */
	WATCH_MISSED,   /* as heap_missed() was told */
	WATCH_HELD_UP,  /* its .held_up is new */
};

struct act_observer_ops {
	/*
	 * A release or a resize has been entered: from now on what it gives
	 * back may come to another thread. Returns something to remember with
	 * the call.
	 */
	uint64_t (*taken)(struct act_observer *observer,
			  const struct observed_act *act);

	/* A call has returned; or (act->end is 0) nobody waits for that. */
	void (*ended)(struct act_observer *observer,
		      const struct observed_act *act);

	/* A call will not be seen to return. */
	void (*abandoned)(struct act_observer *observer,
			  const struct observed_act *act);

	/* Or NULL. */
	void (*news)(struct act_observer *observer,
		     const struct watched *process, enum watch_news news,
		     uint64_t since, uint64_t now);
};

#endif
