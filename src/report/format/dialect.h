/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DIALECT_H
#define CALLTRAP_DIALECT_H

#include <stdbool.h>

#include "probe/event.h"
#include "prototype/value_style.h"

/*
 * Whose letters the log and the table are written in: calltrap's own, or those
 * of an ltrace that scripts were written for. All that differs stands in one
 * table.
 */
struct dialect {
	const char *version; /* of ltrace; NULL: calltrap's own */
	struct value_style values;
	const char *system_call;     /* its name for %s in the log, */
	const char *system_call_row; /* … in the table, and when resumed */
	const char *cut_by_call; /* what ends a begun line when another call, */
	const char *cut_by_event; /* … or a signal, exec or exit comes */
	unsigned align_blanks;    /* how far results stand before -a's column */
	bool columns_of_screen;   /* -a is 5/8 of the screen, unless given */
	bool tells_ends;          /* how a call without return has ended */
	bool tells_cores;         /* (core dumped) */
	bool names_programs;      /* that are run, and that files are of */
	bool counts_unfinished;   /* -c: calls that don't return, too */
	bool counts_errors;       /* -c has a column for them */
	bool finds_tasks; /* the pid stands in front from the second task on */
	bool all_threads; /* … are shown without -f */
	bool thread_ends; /* +++ exited +++ of each */
	bool start_and_end; /* what the C library's start files call, too */
	bool resolvers;     /* -x: IFUNC's resolvers are calls: NAME.IFUNC */
	bool debuginfo;     /* has prototypes */
	bool keeps_status;  /* calltrap exits with the program's status */
	bool explains;      /* notes and warnings on standard error */
};

extern const struct dialect dialect_own;

/*
 * That of an ltrace ("0.7.3"); NULL stands for the one that calltrap was
 * configured for. Returns NULL when it isn't known.
 */
const struct dialect *dialect_of_ltrace(const char *version);

/* Those that there are: "0.7.3, 0.7.91"; to be freed. */
char *dialect_versions(void);

/*
 * Whether an event isn't shown: it is of a thread that nobody asked for
 * (first_only), or a call that such an ltrace doesn't see.
 */
bool dialect_hides(const struct dialect *dialect, bool first_only,
		   const struct event *event);

#endif
