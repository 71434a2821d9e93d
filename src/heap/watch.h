/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WATCH_H
#define CALLTRAP_WATCH_H

#include <stdbool.h>

#include "growth/calls.h"
#include "heap/heap.h"
#include "heap/history.h"
#include "probe/prober.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/rights.h"
#include "sysdeps/linux/vitals.h"

/*
 * Watches the heaps of processes: picks the functions of all families wherever
 * they are defined, and makes acts of their calls.
 */
struct watch;
struct act_observer;

enum watched_state {
	WATCHED_RUNNING,
	WATCHED_EXITED,   /* .status is as from wait(2) */
	WATCHED_REPLACED, /* it has begun another program */
	WATCHED_LEFT,     /* calltrap has let go of it */
};

/* What being traced has cost a process. */
struct watched_cost {
	uint64_t stops;
	uint64_t stopped_ns; /* of all its tasks, from stop to resumption */
	/* For how long it could not run although it would have, for whatever
	   reason; and by when that was known. */
	uint64_t held_ns, held_until;
	uint64_t addresses; /* bytes of its address space that are ours */
};

/* A process, from when it was first seen or began its present program. */
struct watched {
	pid_t pid;
	pid_t own_pid; /* its number in a namespace of its own; 0: in none */
	char *program; /* path, or "" */
	struct rights *rights; /* to the files that it names */
	/* What people know it by: often it isn't the file's name, as that of
	   a link or a script, or one that the process has taken. Or "". */
	char name[PROCFS_COMM_ROOM];
	struct heap *heap;
	int *inherited; /* descriptors that it had at .start, if .complete */
	size_t inherited_count;
	struct growth *growth; /* or NULL */
	uint64_t start, end;   /* monotonic; end: 0 while it runs */
	enum watched_state state;
	int status;
	uint64_t calls;      /* of functions of families */
	uint64_t unreadable; /* … whose arguments could not be read */
	uint64_t unseen;     /* … whose returns could not be */
	/* Traps that another tool had taken away; and how long, at most, calls
	   may have gone by unseen. */
	uint64_t lost_traps, blind_ns;
	uint64_t roomless; /* calls that there was no room for, meanwhile */
	uint64_t blind_until;
	bool uprobes;  /* of another tool, which keep calls to themselves */
	bool complete; /* watched from its first instruction on */
	/* What the kernel said of it when watching began, and the last time. */
	struct vitals first_vitals, vitals;
	uint64_t sampled;        /* monotonic: when that was */
	unsigned samples;        /* how often that was */
	struct history resident; /* bytes, in time */
	uint64_t double_frees;   /* by then */
	uint64_t looked;
	struct watched_cost cost, first_cost; /* .first: when it began */
	uint64_t held_ns, held_until;         /* of .cost, when looked at */
	uint64_t held_next;                   /* when to look again */
	struct heap_held_up held_up;          /* what was told last */
	UT_hash_handle hh;                    /* by pid */
};

/* Calls of which it isn't known what they have done. */
static inline uint64_t watched_lost(const struct watched *process)
{
	return process->unreadable + process->unseen + process->roomless;
}

/* Of a block, one of those that .sample has chosen: … */
enum watch_keeping {
	WATCH_KEPT,
	WATCH_KEPT_AGAIN, /* … the call that was to give it back never came back */
	WATCH_GONE,       /* … it is about to be given back */
};

typedef void watch_kept(void *context, pid_t pid, uint64_t handle,
			enum watch_keeping keeping);

struct watch_options {
	const struct families *families;
	const struct stacks *stacks;
	unsigned growth; /* kinds: GROWTH_BIT()s; 0: isn't watched */
	enum growth_by growth_by;
	void (*drain)(void *context); /* as of growth_options; or NULL */
	/* As of heap_options. */
	unsigned (*component)(void *context, stack_id stack,
			      const char *library);
	/* Of what has been traced under that number so far. */
	struct watched_cost (*cost)(void *context, pid_t pid);
	/* How much of its memory is ours; is left as it was where that isn't
	   known. Or NULL. */
	void (*own_memory)(void *context, pid_t pid, uint64_t *bytes);
	/*
	 * A process has come to its end, and is forgotten after that. Of those
	 * that are let go of this is told when the sink is finished.
	 */
	void (*ended)(void *context, const struct watched *process);
	void *context;
	struct act_observer *observer; /* is told of each act; or NULL */
	bool timeline;                 /* as of heap_options, as this is: */
	uint64_t sample;
	bool adapts;
	watch_kept *kept; /* or NULL */
	bool timed; /* how long each call takes is wanted, free() included: it
		       costs a further stop */
	bool waits; /* calls that wait are seen, for who else looks at events */
};

struct watch *watch_new(const struct watch_options *options) MUST_CHECK;

/* Its freeing frees the watch. */
struct sink *watch_sink(struct watch *watch);
const struct prober_pick *watch_pick(const struct watch *watch);

/* A process is traced from now on. complete: it hasn't run yet. */
void watch_add(struct watch *watch, pid_t pid, bool complete);

/* What makes a process grow; NULL: that isn't watched, or no such process. */
struct growth *watch_growth(const struct watch *watch, pid_t pid);

/* Looks at what the kernel says of each process: now and then, or because that
   is to be reported. */
void watch_sample(struct watch *watch, uint64_t now, bool now_and_then);

/* Calls may have been missed since then: traps of a process were gone, and are
   there again; calls found no room; or it just wasn't watched. */
struct missed {
	uint64_t traps, calls; /* so many; or neither is known */
	uint64_t since;
};

void watch_missed(struct watch *watch, pid_t pid, const struct missed *missed,
		  uint64_t now);

/* All that run will be let go of: what is known of them by now is told. */
void watch_leave(struct watch *watch, uint64_t now);

/*
 * Off: what is acquired from now on is not kept, but what was kept before is
 * still seen when it is given back: in the end that shows what survives.
 */
void watch_switch(struct watch *watch, bool on, uint64_t now);
bool watch_is_on(const struct watch *watch);

/* As heap_set_rate(), of all that run and all that will. */
void watch_set_rate(struct watch *watch, unsigned rate, uint64_t now);

/* Those that run, by pid. NULL: the first; NULL behind the last. */
const struct watched *watch_next(const struct watch *watch,
				 const struct watched *after);

/* All blocks of families with sizes that a process holds. */
void watch_visit_held(const struct watch *watch, pid_t pid,
		      void (*visit)(void *visitor, uint64_t handle),
		      void *visitor);

/* Whether any function of any family was found in any process. */
bool watch_has_found(const struct watch *watch);

#endif
