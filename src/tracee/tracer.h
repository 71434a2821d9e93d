/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TRACER_H
#define CALLTRAP_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "sysdeps/arch.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/cost.h"
#include "tracee/follow.h"
#include "tracee/guardian.h"
#include "tracee/image_cache.h"
#include "tracee/source.h"
#include "tracee/space.h"
#include "tracee/standstill.h"
#include "tracee/stop.h"

/* What is to become of a stopped task when its stop has been handled. */
enum resume_action {
	RESUME_RUN,
	RESUME_LISTEN, /* stay stopped by job control, but hear of its end */
	RESUME_HOLD,   /* stay stopped until somebody else decides */
	RESUME_DETACH, /* let go of it */
};

/*
 * A task that was taken out of a copy before the instruction ran, because a
 * signal came: it will hit the trap again, which is the same visit.
 */
struct visit {
	taddr_t address;
	taddr_t sp;
	unsigned planting; /* of the trap: another one is another visit */
};

#define TASK_VISITS 8

/* What being traced has cost it, since it began its program. */
struct task_cost {
	uint64_t since;
	uint64_t stops;
	uint64_t still_ns; /* in stops, and on the way there and back */
	uint64_t ran_ns;   /* the kernel's way into stops and out included */
	bool near;         /* ran on our processor when it was looked at last */
	struct procfs_schedule schedule; /* when it was looked at last */
	uint64_t scheduled;          /* … and how many stops there had been */
	uint64_t looked, stopped_ns; /* … when, and how long in all of them */
};

/* One thread of a tracee: the unit that the kernel stops and resumes. */
struct task {
	pid_t tid;
	struct tracee *tracee; /* NULL: its parent's event is still to come */
	struct task *next;     /* in its tracee */
	bool stopped;          /* in a ptrace stop: may be spoken to */
	bool newborn;          /* hasn't had its first stop */
	bool listening;        /* stopped by job control */
	bool resuming;         /* all of its stop is done; or resumed by now */
	bool held;             /* … and whose it is isn't known */
	uint8_t asked;         /* how many more stops may be what it was
				  asked for: see task_ask_to_stop() */
	bool entering;         /* stopped at a system call's entry */
	bool errant;           /* sent by a source, which looks at its system
				  calls */
	bool leaving;          /* was asked to stop, in order to be let go */
	bool begets_ours;      /* no child that we don't trace can still come of
				  it: see unborn_await() */
	bool in_vfork;         /* waits for a vfork child: can't be stopped */
	enum resume_action action;
	int deliver;        /* signal that goes with the resumption, or 0 */
	int end_status;     /* as from wait(2), when it has ended */
	uint64_t stop_time; /* monotonic, before any work on the stop */
	struct stop_sums stops, stops_before; /* the latter: without this one */
	taddr_t place;      /* of the trap that it stopped at, or 0 */
	uint64_t resumed;   /* when, the last time */
	uint64_t worked_ns; /* the tracer, by then */
	bool waited;        /* it was waiting for something when it was
				  stopped: nothing is lost */
	struct task_cost cost;
	struct task_standstill standstill;
	struct regs regs; /* cached while stopped */
	bool regs_known;
	bool put_back;     /* to the trap that it has run into */
	bool ip_changed;   /* these two are written back before it is */
	bool regs_changed; /* resumed: the ip alone, or all */
	int watch;         /* its place with the guardian, or -1 */
	unsigned queued;   /* statuses of it that are still to be handled */
	struct visit visits[TASK_VISITS];
	unsigned visit_count;
	void *client;      /* of the tracer's client */
	UT_hash_handle hh; /* by tid */
};

/* A traced process (thread group). */
struct tracee {
	pid_t pid;
	struct space *space;
	struct task *tasks;
	bool started; /* by calltrap, or descends from such: it may be killed
			  with us */
	bool muted;   /* a child that is not followed, but must be kept until
			  it has a space of its own */
	bool borrows; /* its parent's space, until exec: what is read by its
			  number may be another program's at any moment */
	bool copied;  /* its space is a copy, and it has not run yet */
	struct space *unclean; /* what it is a copy of, while that is still to
				  be cleaned of the traps; else NULL */
	uint64_t stops,
		stopped_ns; /* of its tasks: how many, how long in all */
	struct standstill standstill;
	void *client;
	UT_hash_handle hh; /* by pid */
};

/* A wait status that was fetched, but not handled yet. */
struct queued_stop {
	pid_t tid;
	int status;
	uint64_t time; /* monotonic, when it was fetched */
};

/*
 * Who is told what happens: the probe room. Embedded as first member. Nothing
 * here may resume a task.
 */
struct tracer_client {
	const struct tracer_client_ops *ops;
};

struct tracer_client_ops {
	void (*space_begin)(struct tracer_client *, struct space *);
	void (*space_end)(struct tracer_client *, struct space *);
	void (*module_mapped)(struct tracer_client *, struct space *,
			      struct module *);
	void (*module_unmapped)(struct tracer_client *, struct space *,
				struct module *);
	/* All modules of a consistent list have been reported. */
	void (*modules_consistent)(struct tracer_client *, struct space *);
	/* The dynamic linker has filled the GOTs of what came at the start. */
	void (*space_relocated)(struct tracer_client *, struct space *);
	void (*task_begin)(struct tracer_client *, struct task *);
	void (*task_end)(struct tracer_client *, struct task *);
	void (*signal)(struct tracer_client *, struct task *, int signal);
	void (*fork)(struct tracer_client *, struct task *parent,
		     struct tracee *child);
	/* A thread has called execve, and goes on as its leader. */
	void (*succeed)(struct tracer_client *, struct task *former,
			struct task *leader);
	void (*exec)(struct tracer_client *, struct task *task);
	/*
	 * These two when the tracer watches system calls. A call may return
	 * that was never entered, and one that never returns may be entered.
	 * again: it was ended by a stop of ours, and will be entered again.
	 */
	void (*syscall_entered)(struct tracer_client *, struct task *,
				const struct syscall_stop *);
	void (*syscall_returned)(struct tracer_client *, struct task *,
				 const struct syscall_stop *, bool again);
	/* wait_status of its leader */
	void (*tracee_end)(struct tracer_client *, struct tracee *,
			   int wait_status);
	void (*leave)(struct tracer_client *, struct tracee *);
};

#define KILLED_SPACES 4

struct tracer {
	struct tracer_client *client;
	struct event_source *sources; /* beside stops: see source_add() */
	bool draining;
	bool follow;
	bool system_calls;      /* tasks stop at them */
	bool attaching;         /* … but not yet: see attach_begin() */
	struct task *tasks;     /* by tid */
	struct tracee *tracees; /* by pid */
	struct image_cache *images;
	struct guardian *guardian; /* or NULL */
	struct follow processor;
	struct price price;
	struct cost_record ended;
	struct procfs_schedule schedule; /* ours, as of a task's */
	uint64_t scheduled;
	uint64_t worked_ns, last_resumed; /* for all tasks, one at a time */
	struct queued_stop *queue; /* statuses that are still to be handled */
	size_t queue_count;
	size_t queue_room;
	struct space *killed[KILLED_SPACES]; /* of processes that were killed */
	unsigned killed_next;
	size_t orphans;       /* held: their parents' events are to come */
	bool plants;          /* some space is still planting traps */
	uint64_t plants_next; /* monotonic: not before */
	bool gathering;       /* … or to begin: no call counts yet */
	bool leaving;         /* every task is let go at its next stop */
	bool keeps_tracees;   /* … and those that are gone are still there */
	struct {              /* what the rest of the program asks about */
		uint64_t stops;
		uint64_t stopped_ns; /* from stops to resumptions, in all */
		uint64_t emulated;
		uint64_t copied;
		uint64_t stepped;
		uint64_t traps_failed;
		uint64_t unfollowed; /* children: no descriptors were left */
	} counts;
};

void tracer_init(struct tracer *tracer, struct tracer_client *client,
		 bool follow);
void tracer_fini(struct tracer *tracer);

/* Keeps a status for later. */
void tracer_queue_stop(struct tracer *tracer, pid_t tid, int status);

/* Takes the stop of a step that is done out again; leaves what else it is. */
void tracer_unqueue_step(struct tracer *tracer, struct task *task);

/* The registers of a stopped task, read once a stop. NULL when it's gone. */
struct regs *task_regs(struct task *task);
void task_forget_regs(struct task *task);

/*
 * Makes a running task stop. It may be stopping for something else just now,
 * and stop once more then; or not, if that came a moment later: the request is
 * forgotten by the kernel as soon as the task stops (ptrace_stop(),
 * kernel/signal.c). Returns false when it has gone.
 */
bool task_ask_to_stop(struct task *task);

struct task *task_find(struct tracer *tracer, pid_t tid);
struct task *task_new(struct tracer *tracer, pid_t tid, struct tracee *tracee);
void task_free(struct tracer *tracer, struct task *task);

struct tracee *tracee_find(struct tracer *tracer, pid_t pid);
struct tracee *tracee_new(struct tracer *tracer, pid_t pid,
			  struct space *space);
void tracee_free(struct tracer *tracer, struct tracee *tracee);
void tracee_adopt(struct tracee *tracee, struct task *task);

#define for_each_task_of(tracee, task) \
	for ((task) = (tracee)->tasks; (task); (task) = (task)->next)

#endif
