/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVENT_H
#define CALLTRAP_EVENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/memory.h"
#include "base/types.h"
#include "prototype/prototype.h"
#include "script/script.h"
#include "stack/stacks.h"
#include "sysdeps/arch.h"
#include "sysdeps/convention.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/price.h"

/* Where a function is caught. */
enum function_place {
	FUNCTION_CALL_SITE,   /* where one module calls it (-e, -l) */
	FUNCTION_ENTRY,       /* at its own first instruction (-x) */
	FUNCTION_SYSTEM_CALL, /* it is one of the kernel's (-S) */
};

/* What is special about a function's return. */
enum function_return {
	RETURNS_ONCE,
	RETURNS_NEVER, /* exit, longjmp, pthread_exit… */
};

/*
 * How some of a function's calls can be chosen by who catches them: by the bytes
 * that they ask for. .size and .factor (of it) are arguments, or
 * SAMPLED_NO_ARGUMENT. What the others give back is their first argument; what
 * is acquired is the result, or lies where the first argument says.
 */
enum sampled_act {
	SAMPLED_NOT, /* that can't be done */
	SAMPLED_ACQUIRE,
	SAMPLED_RELEASE,
	SAMPLED_RESIZE,
};

#define SAMPLED_NO_ARGUMENT 3

struct sampled_by {
	enum sampled_act act;
	uint8_t size, factor;
};

/* What became of a call where some are chosen. */
enum call_choice {
	CALL_OPEN, /* nobody has chosen */
	CALL_KEPT,
	CALL_LEFT, /* but what it gives back may have been kept */
};

/*
 * … and at which rate that was, see agent_engine_set_rate(). Where calls are counted it
 * says how many a call that was told of stands for: see call_stands_for().
 */
struct call_chosen {
	enum call_choice choice;
	unsigned rate;
};

/*
 * When a call does what it does, where that follows from its arguments and its
 * result alone: such a call may be told of as a whole, see struct whole_call.
 */
enum whole_effect {
	WHOLE_NOT,
	WHOLE_AT_ENTRY,
	WHOLE_AT_RETURN,
	WHOLE_AT_BOTH,
};

/*
 * A function that the user wants to see, as one module defines or calls it.
 * Lives as long as the session.
 */
struct function {
	char *name;    /* as the symbol table has it, without version */
	char *library; /* SONAME or file name of the defining module; NULL if
			  it is the program itself, or not known */
	char *caller;  /* CALL_SITE: SONAME or file name of the calling one */
	enum function_place place;
	enum function_return returns;
	const struct prototype *prototype; /* or NULL */
	bool prototype_later; /* debug information has not been asked yet */
	/*
	 * Calls of it are not seen while another function of its group runs on
	 * the same task (malloc within operator new); 0: all are seen.
	 */
	uint8_t group;
	bool within_too; /* … except by those who look at call->within */
	bool apart;      /* … but calls within it are no part of what it is
				called by */
	bool entry_only; /* nobody wants to know of its return */
	const void *subject; /* whatever prober_pick has set */
	struct sampled_by sampled;
	enum whole_effect whole;
	unsigned whole_arguments; /* … it follows from so many of them */
};

/* Why a call will never be seen to return. */
enum call_end {
	CALL_RETURNED,
	CALL_LONGJMP,       /* its frame was thrown away by longjmp */
	CALL_EXCEPTION,     /* … by an exception or a panic */
	CALL_THREAD_EXITED, /* its task has ended; the process goes on */
	CALL_PROCESS_ENDED, /* by exit in another call, or was killed */
	CALL_NEVER_RETURNS, /* it is of that kind (exit), or was an exec */
	CALL_UNSEEN,        /* where it returns to can't be trapped */
	CALL_DETACHED,      /* calltrap went away while it was running */
	CALL_UNWATCHED,     /* the function is .entry_only */
};

/* What the kernel has booked, by the stop in which a call begins. */
struct kernel_clock {
	bool known;
	bool runs_free; /* the call stands for others, which don't stop */
	bool certain;   /* … for itself alone: chance has not chosen it */
	taddr_t point;  /* where it was caught */
	struct procfs_schedule its, ours; /* the task, and the tracer */
	uint64_t slept;                   /* the task, so often */
	uint64_t stops;                   /* it had so many */
};

/* One activation of a function on one task. */
struct call {
	const struct function *function;
	uint64_t id; /* unique in the session */
	pid_t pid, tid;
	unsigned depth; /* calls of its task that were running when it began */
	const struct arch_ops *arch;
	struct memory *memory; /* of its task; good during an event only */
	taddr_t return_address;
	struct regs entry;              /* registers at the first instruction */
	const struct fp_regs *entry_fp; /* NULL: not needed, or not known */
	stack_id stack; /* who called; STACK_NONE: wasn't asked for */
	struct script_frames *script; /* where its program is, or NULL */
	bool within;                  /* another one of its function's group */
	struct call_chosen chosen;
	uint64_t time;             /* of the entry; monotonic, nanoseconds */
	struct stop_sums stops;    /* those of .tid */
	struct kernel_clock clock; /* … if the time of this one is wanted */
	bool untimed;              /* it isn't known how long it takes */
};

/*
 * Some of a function's calls were told of, at random, the others but counted (struct
 * call_count, .untimed): of so many, in the mean, it was the one. That is
 * 1 / (1 - e^(-1 / 2^rate)), as the distances are exponential.
 */
static inline double call_stands_for(const struct call *call)
{
	const double mean = (double)(UINT64_C(1) << (call->chosen.rate & 31));

	return call->chosen.choice == CALL_KEPT && call->chosen.rate ?
		       mean + 1.0 / 2 + 1 / mean / 12 :
		       1;
}

enum event_kind {
	EVENT_CALL,         /* .call has begun */
	EVENT_RETURN,       /* .call has returned; .regs are those after it */
	EVENT_CHILD_RETURN, /* … in a child that has begun within it; it will
			       return in the parent, too */
	EVENT_ABANDON,      /* .call ends as .end says */
	EVENT_SIGNAL,       /* .signal is about to be delivered */
	EVENT_FORK,         /* .child: a new process that is traced */
	EVENT_EXEC,         /* the process has begun a new program, .path */
	EVENT_EXIT,         /* the process is gone; .status as from wait(2) */
	EVENT_THREAD,       /* a further thread of a process was seen */
	EVENT_THREAD_END,   /* one that isn't the first is gone; .status */
	EVENT_LEAVE,        /* the process is let go (detached) */
};

/* Nanoseconds. */
struct event_cost {
	uint64_t stopped_ns;    /* in stops */
	uint64_t switched_ns;   /* on the way into them and out, as a rule */
	uint64_t mean_ns;       /* … and in the mean */
	uint64_t resolution_ns; /* what remains is off by so much */
	/* … of .mean_ns: for a processor, known but in the mean. */
	uint64_t waits_ns;
	/* Where the call's .clock is known: it may have waited twice that, which isn't in
	   its time; … */
	uint64_t own_waits_ns;
	/* … calls like it wait in the mean, for a processor that they get
	   after so long; and its stops have waited for so much longer than is
	   known of them in the mean. */
	uint64_t chance_ns, wait_ns;
	int64_t late_ns;
};

struct event {
	enum event_kind kind;
	pid_t pid, tid;
	uint64_t time; /* monotonic, nanoseconds, before any work on it */
	union {
		struct {
			const struct call *call;
			const struct regs *regs;
			const struct fp_regs *fp; /* RETURN: or NULL */
			enum call_end end;
			bool failed; /* RETURN: the result says so */
			int error;   /* … and why (errno); 0: not known.
					 syscall_restarts() without failed: a
					 signal has interrupted the call */
			struct event_cost cost; /* RETURN: of the time since
					 call->time, what was ours; see
					 event_duration() */
		};
		struct {
			int signal;
			taddr_t ip;
		};
		pid_t child;
		const char *path;
		int status;
	};
};

/*
 * How long a call took by the program's own time: without the stops that it,
 * and what it called, made for us. Below the resolution it is noise.
 */
static inline uint64_t event_duration(const struct event *event)
{
	uint64_t begin = event->call->time;
	uint64_t ns = event->time > begin ? event->time - begin : 0;
	uint64_t ours = event->cost.stopped_ns + event->cost.switched_ns;

	return ns > ours ? ns - ours : 0;
}

/* The same to be summed up: so it may be negative. */
static inline int64_t event_mean_duration(const struct event *event)
{
	return (int64_t)(event->time - event->call->time -
			 event->cost.stopped_ns - event->cost.mean_ns);
}

/* Whether it took longer than what can be told from nothing. */
static inline bool event_is_resolved(const struct event *event)
{
	return event_duration(event) > event->cost.resolution_ns;
}

/*
 * A call from its begin to its end, told of in place of its events: when it did
 * what it does, and nothing else that was caught ran on its task meanwhile.
 */
#define WHOLE_ARGUMENTS 3

struct whole_call {
	const struct function *function; /* .whole isn't WHOLE_NOT */
	uint64_t id;                     /* as of a call */
	pid_t pid, tid;
	uint64_t time, end; /* monotonic, nanoseconds; end: 0 if .entry_only */
	uint64_t arguments[WHOLE_ARGUMENTS];
	uint64_t result;
	stack_id stack;
	bool untimed; /* both times may be some time before that */
};

/*
 * Calls that nobody has seen one by one: they were counted where they were
 * made. Those of them that took up to so many nanoseconds are counted in
 * durations, if these were asked for.
 */
struct call_count {
	const struct function *function;
	pid_t pid;
	uint64_t calls;
	bool untimed; /* nothing else is known of them but by those that were told
			 of as events, which were chosen for that (CALL_KEPT) */
	uint64_t failed;
	uint64_t ns;      /* in all; … */
	uint64_t blur_ns; /* … may be that much more or less */
	uint64_t longest; /* these two: 0 when nobody asked */
	size_t duration_count;
	const struct call_duration {
		uint64_t ns;
		uint64_t calls;
	} * durations;
};

/*
 * A consumer of events, embedded as first member of what implements it. No
 * sink knows how a call was caught.
 */
struct sink {
	const struct sink_ops *ops;
	struct sink *next; /* of the session's list */
};

struct sink_ops {
	/*
	 * Takes note of an event. Returns a negative errno when the output
	 * can't be written any more (full disk, closed pipe): calltrap then
	 * detaches.
	 */
	int (*event)(struct sink *sink, const struct event *event);

	/*
	 * The same of calls as a whole, in their order, one or many. NULL: it wants to
	 * see their events.
	 */
	int (*wholes)(struct sink *sink, const struct whole_call *calls,
		      size_t count);

	/* Whether it tells when each call was made, or how long each took; else some
	   may be told of as untimed. NULL: it doesn't. */
	bool (*needs_times)(const struct sink *sink);

	/*
	 * Such a call, as far as it had begun, will be told of soon: it takes a while
	 * to get memory that hasn't been used lately. NULL: there is none.
	 */
	void (*expect)(struct sink *sink, const struct function *function,
		       pid_t pid, const uint64_t arguments[WHOLE_ARGUMENTS]);

	/* The same of calls that were counted. NULL: it wants to see each. */
	int (*count)(struct sink *sink, const struct call_count *count);

	/*
	 * Called when nothing is left to do but wait: writes what event kept
	 * back. Returns like event. NULL where nothing is kept back.
	 */
	int (*flush)(struct sink *sink);

	/* The last word: prints tables, flushes. Returns like event. */
	int (*finish)(struct sink *sink);

	void (*free)(struct sink *sink);
};

/* Hands an event to each sink of a list; the first error is returned. */
int sinks_event(struct sink *first, const struct event *event);
int sinks_wholes(struct sink *first, const struct whole_call *calls,
		 size_t count);
void sinks_expect(struct sink *first, const struct function *function,
		  pid_t pid, const uint64_t arguments[WHOLE_ARGUMENTS]);
int sinks_count(struct sink *first, const struct call_count *count);

/* Whether all of them take calls as a whole. */
bool sinks_take_wholes(const struct sink *first);
bool sinks_need_times(const struct sink *first);

/* Whether none of them wants to see each call. */
bool sinks_take_counts(const struct sink *first);
int sinks_flush(struct sink *first);
int sinks_finish(struct sink *first);
void sinks_free(struct sink *first);

#endif
