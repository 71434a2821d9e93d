/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROBER_H
#define CALLTRAP_PROBER_H

#include <signal.h>
#include <stdbool.h>

#include "debuginfo/debuginfo.h"
#include "filter/filter.h"
#include "probe/engine.h"
#include "probe/event.h"
#include "prototype/prototype.h"
#include "stack/unwind.h"
#include "tracee/tracer.h"

/*
 * Turns filters into probes, probes into traps, and hits into events: the
 * client of the tracer. The only room that knows how a call is caught.
 */
struct prober;

/* Functions that a sink of its own accord wants to see at their entries. */
struct prober_pick {
	/* Whether a symbol of a module is one. */
	bool (*wants)(void *context, const char *symbol,
		      const struct module *module);
	/* Called once for each that is found, to set group, entry_only and
	   subject. */
	void (*describe)(void *context, struct function *function);
	/* It has a further name that is wanted, too. */
	void (*also_named)(void *context, struct function *function,
			   const char *symbol);
	/* One could not be trapped somewhere. NULL: nobody asks. */
	void (*failed)(void *context, const struct function *function);
	/* Whether a system call is one: if the tracer watches them. NULL: as
	   the configuration says. */
	bool (*wants_call)(void *context, const char *name);
	void *context;
};

struct prober_config {
	const struct filter *calls;     /* -e: by calling module */
	bool default_calls;             /* no -e, -l, -L: calls of MAIN */
	const struct filter *libraries; /* -l: by defining module */
	const struct filter *entries;   /* -x … */
	const char *entries_option;     /* … or what they were named by */
	const struct prober_pick *pick; /* besides those of -x; or NULL */
	bool clocked; /* some calls are timed as exactly as can be: clocked.c */
	bool system_calls;   /* the tracer watches them: -S, … */
	bool system_entries; /* … those that .entries names as SYS */
	bool resolvers; /* of IFUNCs that .entries names: calls of NAME.IFUNC */
	struct prototypes *prototypes;
	/* Has prototypes that no file has; NULL: nobody would see them. */
	struct debuginfo *debuginfo;
	/* Takes the stack of each call, so deep; or NULL. */
	struct unwinder *unwinder;
	struct stacks *stacks;
	unsigned stack_depth;
	bool scripts; /* asks interpreters where in their programs they are */
	bool script_stacks; /* stacks are those of the programs that they run */
	struct sink *sinks;
	/* What is to catch calls where it can, traps apart; or NULL. They are
	   the caller's, and live longer. */
	struct engine *engines;
	/* Set to 1 when a sink can't write any more. */
	volatile sig_atomic_t *wake;
};

struct prober *prober_new(const struct prober_config *config);
void prober_free(struct prober *prober);
struct tracer_client *prober_client(struct prober *prober);

/* The first error of a sink, or 0. */
int prober_error(const struct prober *prober);

/* Whether any probe was ever planted, or nobody asked for one. */
bool prober_has_matched(const struct prober *prober);

/* Whether a program was seen that Go made. */
bool prober_has_go(const struct prober *prober);

/* Tells, through diag, which filters never matched anything, and where the
   calls are when next to none was seen. */
void prober_report_unmatched(const struct prober *prober);

/*
 * Appends how many functions could not be trapped, and of some of them which
 * and why; returns false, appending nothing, when all could. Of unnamed ones,
 * more than the prober knows of, only the number is known.
 */
struct strbuf;
bool prober_tell_refused(const struct prober *prober, uint64_t unnamed,
			 struct strbuf *out);

/* Ends every running call as CALL_DETACHED: before leaving. */
void prober_abandon_all(struct prober *prober, struct tracer *tracer);

/*
 * How large the process says that a block is which a call has just acquired,
 * by its malloc_usable_size(): worked out at the call's return, without running
 * it. False: it can't be, or what is told of is past.
 */
bool prober_usable_size(struct space *space, const struct event *event,
			uint64_t block, uint64_t *ret);

/*
 * While it is paused nobody is told that processes are let go of: they will be
 * attached to again.
 */
void prober_pause(struct prober *prober, bool paused);

struct prober_counts {
	uint64_t calls;
	uint64_t probes;         /* planted */
	uint64_t failed_probes;  /* places that couldn't be trapped */
	uint64_t failed_returns; /* calls whose return couldn't be trapped */
};

struct prober_counts prober_counts(const struct prober *prober);

#endif
