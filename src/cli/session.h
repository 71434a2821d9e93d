/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SESSION_H
#define CALLTRAP_SESSION_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "cli/options.h"
#include "cli/signals.h"
#include "debuginfo/debuginfo.h"
#include "probe/agent_engine.h"
#include "probe/prober.h"
#include "report/file/output.h"
#include "tracee/inheritance.h"
#include "tracee/leave.h"
#include "tracee/lost_traps.h"

/* Exit statuses of calltrap itself; see calltrap(1). */
enum {
	EXIT_NOTHING_TRACED = 1,
	EXIT_UNWRITTEN = 1,
	EXIT_WRONG_USAGE = 2,
	EXIT_HOLDS_ON = 3,
};

struct session;

/* What a verb makes of the events. */
struct verb_ops {
	/*
	 * Before anything is traced: opens what is written to, and puts its
	 * sinks on the session's list. What goes wrong has been told.
	 */
	int (*open)(struct session *session);

	/* Says which functions are wanted; sinks are filled in already. */
	void (*configure)(struct session *session,
			  struct prober_config *config);

	/* What else tells of tasks: see tracee/source.h. The unwinder is
	   there. Or NULL, and may return that. */
	struct event_source *(*source)(struct session *session);

	/* There is something to trace: it has been attached to, or started.
	   Or NULL. */
	void (*begun)(struct session *session);

	/* A signal or a tick has come, while everything goes on. Or NULL. */
	void (*woken)(struct session *session);

	/* Somebody had taken traps of a process away, which are there again.
	   Or NULL. */
	void (*missed)(struct session *session, pid_t pid,
		       const struct lost_traps *lost, uint64_t now);

	/* A process ran unwatched since then, and is watched again; or so many
	   of its calls found no room. Or NULL. */
	void (*unwatched)(struct session *session, pid_t pid, uint64_t calls,
			  uint64_t since, uint64_t now);

	/* Calls visit with all that a process is known to hold. Or NULL. */
	void (*held)(struct session *session, pid_t pid,
		     void (*visit)(void *visitor, uint64_t handle),
		     void *visitor);

	/* All processes are about to be let go of; what is asked of them must
	   not take long. Or NULL. */
	void (*leaving)(struct session *session);

	/* calltrap is about to die of an error of its own, and everything has
	   been let go of. Allocates nothing. Or NULL. */
	void (*in_need)(struct session *session);

	/* All is over, and the results are written. Or NULL. */
	void (*finished)(struct session *session);

	/* Frees what open made; after the sinks. Or NULL. */
	void (*close)(struct session *session);

	/* Where results go, for messages. */
	const char *(*output)(const struct session *session);
};

extern const struct verb_ops trace_verb;
extern const struct verb_ops heap_verb;

/* One run of calltrap. */
struct session {
	const struct options *options;
	const struct verb_ops *verb;
	void *verb_data;
	struct signal_requests *requests;
	struct inheritance inheritance; /* of the command */
	struct prototypes *prototypes;
	struct sink *sinks;
	struct debuginfo *debuginfo;
	struct stacks *stacks;
	struct unwinder *unwinder; /* or NULL */
	struct prober *prober;
	struct agent_engine *agent; /* or NULL: .no_agent says why */
	const char *no_agent;
	struct tracer tracer;
	pid_t child; /* the command, or 0 */
	bool child_ended;
	int child_status;   /* as from wait(2) */
	bool begun;         /* there was something to trace */
	bool warned;        /* that the target stands still */
	bool left;          /* detached before everything ended */
	bool leaks;         /* likely ones, by the last report of a process */
	bool unwritten;     /* something that was found could not be */
	uint64_t next_look; /* at the bytes of all traps; and when that was … */
	uint64_t last_look;
	uint64_t lost_traps; /* … how many were gone */
	uint64_t blind_ns;   /* at most */
	pid_t front;         /* see cli/front.h */
	pthread_t thread;    /* the one that traces */
	sem_t traced;        /* posted when the tracing is over, or … */
	bool holds_on;       /* … only tasks that are late are still held */
	struct leave late;
	struct output_policy policy; /* of what is written while tasks wait */
	struct output_policy report_policy; /* … and of what is asked for */
	struct pause *pause; /* between two rounds of tracing, or NULL */
	uint64_t own_pages;  /* of code, that stay with those let go of */
	unsigned pauses;     /* how many there were, … */
	uint64_t paused_ns;  /* … and how long in all */
	struct sink watcher;
};

/*
 * Does what the command line says; returns the exit status. front: see
 * cli/front.h.
 */
int session_run(const struct options *options, pid_t front,
		const sigset_t *blocked);

#endif
