/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_PRIVATE_H
#define CALLTRAP_AGENT_PRIVATE_H

#include "agent/agent.h"
#include "probe/agent_engine.h"
#include "probe/private.h"

/* What the files of the engine share. */

/* A point that is caught: by its trap, and by slots once .stub is set. */
struct agent_point {
	struct trap_owner owner;
	struct point *point;
	struct agent_space *space;
	int stub;		   /* -1: none yet */
	uint64_t hits;		   /* of its trap, since there is a stub */
	bool given_up;		   /* there will be none */
	bool told;		   /* its counter has been */
	bool noted;		   /* in the report, or among the refusals */
	struct agent_point *next;
};

struct agent_space {
	struct agent_engine *engine;
	struct probe_space *space;
	pid_t pid;
	struct agent agent;
	struct agent_point *points;
	uint64_t looked; /* for slots, when */
	struct agent_space *next;
};

/* A record that is still to be told of. Small: there are many at once. */
struct recorded {
	struct agent_point *point;
	pid_t tid;
	struct agent_record record;
};

struct agent_engine {
	struct engine engine;
	struct event_source source;
	uint64_t mode; /* AGENT_COUNTS | … */
	unsigned string_bytes;
	struct ticks ticks;
	struct agent_space *spaces;
	struct recorded *recorded;
	size_t recorded_count;
	size_t recorded_room;
	uint64_t latest; /* of a few moments ago: no record ends after now */
	bool telling; /* what is told leads to nothing else being told */
	struct shared_cost cost; /* of spaces that are over */
	struct agent_engine_report report;
};

/* ---- agent_records.c ---- */

/*
 * Reads all that is there; what ended by that time (in ticks) is told. Returns
 * how many calls those were.
 */
size_t agent_records_tell(struct agent_engine *engine, uint64_t until);

/* What wasn't told is forgotten. */
void agent_records_forget(struct agent_engine *engine);

/* The point's counter: once, at the end. */
void agent_count_tell(struct agent_point *point);

#endif
