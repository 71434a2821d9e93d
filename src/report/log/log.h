/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_H
#define CALLTRAP_LOG_H

#include <stdbool.h>

#include "probe/event.h"
#include "prototype/prototype.h"
#include "report/format/dialect.h"

struct output_policy;

/*
 * The log of calls, one line each:
 *
 *	PID SECONDS CLOCK [IP] CALLER->NAME@LIBRARY(ARGUMENTS) = RESULT <TIME>
 *
 * A line is begun when the call begins. If another line has to come before
 * its end, it is cut, and a further line ends the call:
 *
 *	NAME(ARGUMENTS <unfinished ...>
 *	<... NAME resumed> ARGUMENTS) = RESULT
 *
 * A call that never returns has no result, be its line cut or not:
 *
 *	NAME(ARGUMENTS <no return>
 *	NAME(ARGUMENTS <unfinished: longjmp>
 *	<... NAME resumed> <unfinished: exception>
 *
 * also "thread exited", "process ended", "return unseen" and "detached". Lines
 * are written when the sink is flushed, or many have gathered; begun ones,
 * too.
 */

enum log_clock {
	LOG_CLOCK_NONE,
	LOG_CLOCK_SECONDS,      /* -t: 22:31:50 */
	LOG_CLOCK_MICROSECONDS, /* -tt: 22:31:50.507781 */
	LOG_CLOCK_EPOCH,        /* -ttt: 1700000000.507781 */
};

struct log_options {
	const char *path; /* -o; "%p" becomes the process id: a file each;
				  NULL is standard error */
	bool show_pids;   /* from the first line on (-f, several -p),
				  where a file is for all */
	enum log_clock clock;
	bool relative;                /* -r: seconds since the previous line */
	bool durations;               /* -T */
	bool ip;                      /* -i */
	unsigned indent;              /* -n: columns per nested call */
	unsigned align;               /* -a: column of " = ", from 1 */
	bool demangle;                /* -C */
	bool hide_signals;            /* -b */
	unsigned where;               /* -w: frames under each call, at most */
	const struct stacks *stacks;  /* … these are numbers in */
	struct debuginfo *debuginfo;  /* … and this has source lines */
	bool show_callers;            /* -e or -l was given: CALLER-> */
	struct output_policy *policy; /* see struct output; or NULL */
	struct print_limits limits;
	const struct dialect *dialect;
	bool first_thread; /* of each process, and no other */
};

/* Opens the log. A negative errno when the file can't be written. */
int log_new(const struct log_options *options, struct sink **ret) MUST_CHECK;

#endif
