/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_ENGINE_H
#define CALLTRAP_AGENT_ENGINE_H

#include "probe/engine.h"
#include "tracee/source.h"

/*
 * The engine that records calls in the traced process, without a stop: those of
 * some library functions, as far as modules call them through the GOT. All
 * other calls of the same functions are caught by a trap at their entry, which
 * is also what it gets in by.
 */
struct agent_engine;

/* A block of a process that is held. */
typedef void agent_engine_visitor(void *context, uint64_t handle);

/* Calls visit with each block that is known to be held by the process. */
typedef void agent_engine_held(void *context, pid_t pid,
			       agent_engine_visitor *visit, void *visitor);

struct agent_engine_config {
	bool counts;    /* calls are counted, not recorded … */
	bool durations; /* … in which times, too */
	/* A power of two: by so many calls that came by traps a process has to
	   have shown that it is worth the way in; or 0. */
	unsigned least_hits;
	bool waits; /* who finds no room for a record waits for it … */
	bool holds; /* … stopped, while we tell of what was read */
	/* Counted or recorded is, too, what may throw, be cancelled or be jumped out
	   of: its return address is replaced. (Of what is watched it is in any
	   case.) Of all such functions, or of those alone that call nothing of the
	   program's (waits_in_c_library(), waits_for_database()). */
	bool replaces_all;
	unsigned string_bytes;   /* of texts are shown, … */
	unsigned array_elements; /* … and of arrays */
	/*
	 * Calls of allocators are watched: entries with their stack, and
	 * returns, in the order in which they happened.
	 */
	bool watches;
	bool stops; /* … but what acquires something stops, as by a trap, for
		       all that can be known then */
	unsigned depth; /* of stacks: AGENT_ENGINE_DEPTH at most; 0: none */
	/*
	 * … but only of some, that are chosen in the process: one in so many
	 * bytes. Of the others nobody hears, but for releases of blocks that
	 * are kept: those that these have acquired, the others that .held
	 * knows, and all that agent_engine_kept() is told of. 0: all are.
	 */
	uint64_t sample;
	unsigned rate; /* see agent_engine_set_rate() */
	agent_engine_held *held;
	/* … some went by unseen since then, or an earlier time: so many found
	   no room; of others nobody knows. */
	void (*missed)(void *context, pid_t pid, uint64_t calls, uint64_t since,
		       uint64_t now);
	void *context;
};

#define AGENT_ENGINE_DEPTH 128

/* NULL where no agent is written for this machine. */
struct agent_engine *agent_engine_new(const struct agent_engine_config *config);
void agent_engine_free(struct agent_engine *engine);

/* A sign of life, while we are kept from reading records for long. */
void agent_engine_live(struct agent_engine *engine);

/*
 * A block is kept, or (gone) one that was is about to be released. What the
 * agent has told of itself it knows.
 */
void agent_engine_kept(struct agent_engine *engine, pid_t pid, uint64_t handle,
		       bool gone);

/* It was to be released, which hasn't come about: nobody else has told that. */
void agent_engine_kept_again(struct agent_engine *engine, pid_t pid,
			     uint64_t handle);

/*
 * How often .sample is doubled from now on, AGENT_ENGINE_RATES - 1 at most. Each
 * call says at which rate it was chosen.
 */
#define AGENT_ENGINE_RATES 32
void agent_engine_set_rate(struct agent_engine *engine, unsigned rate);

/* Where some calls are chosen: how long, by its own clock, all that were told
   of took it, with the waits for room. */
uint64_t agent_engine_lost_ns(const struct agent_engine *engine);

/* Bytes of the process's address space that the agent takes. */
uint64_t agent_engine_addresses(const struct agent_engine *engine, pid_t pid);

/* How much of these is in memory; is left as it was where that isn't known. */
void agent_engine_resident(const struct agent_engine *engine, pid_t pid,
			   uint64_t *bytes);

/* Where some are chosen: how many that were went by a trap nevertheless. */
uint64_t agent_engine_chosen_stops(const struct agent_engine *engine);

/*
 * RECORDS: from now on calls are told of without what their arguments point to,
 * and with the first frame of their stack alone; or with these again.
 */
void agent_engine_leave_out(struct agent_engine *engine, bool pointed_to,
			    bool stacks);

/* How long, by its own clock, it took to tell of calls so far, with the waits for
   room: an estimate, from so many calls. */
uint64_t agent_engine_spent_ns(const struct agent_engine *engine,
			       uint64_t *measured_ret);

/* So many blocks can be kept at a time, where some are chosen. */
#define AGENT_ENGINE_MARKS 200000

/* For the prober, and for the tracer: records are read now and then. */
struct engine *agent_engine_base(struct agent_engine *engine);
struct event_source *agent_engine_source(struct agent_engine *engine);

/* Why functions are caught by traps, for so many of them. */
struct agent_engine_refusal {
	const char *reason;
	unsigned functions;
};

#define AGENT_ENGINE_REFUSALS 12

struct agent_engine_report {
	unsigned functions; /* of which calls were caught in the process */
	uint64_t calls;     /* these */
	double ns;          /* what the hook of one took, in the mean, by its
				 own clock; 0: not known */
	uint64_t waited_ns; /* for room in rings, all threads together */
	const char *reason; /* why it could not get in somewhere; or NULL */
	struct agent_engine_refusal refusals[AGENT_ENGINE_REFUSALS];
	uint64_t lost;     /* calls that found no room */
	uint64_t unmarked; /* blocks that could have been kept, likewise */
	uint64_t blind;    /* how often the hooks thought we were gone */
	/* What was left behind in processes that live, in bytes; .addresses
	   without memory. */
	uint64_t code, addresses;
};

struct agent_engine_report
agent_engine_report(const struct agent_engine *engine);

#endif
