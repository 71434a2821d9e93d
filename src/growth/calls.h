/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_CALLS_H
#define CALLTRAP_GROWTH_CALLS_H

#include "growth/growth.h"
#include "probe/event.h"

/*
 * Makes what a process does to its memory of the calls that do it: of the C
 * library's functions, caught at their entries, or of the kernel's own.
 */

/* Where they are seen. */
enum growth_by {
	GROWTH_NOT_SEEN,
	GROWTH_BY_FUNCTIONS,    /* costs nothing between them; what the dynamic
				   linker maps, and what has no symbol, isn't
				   seen */
	GROWTH_BY_SYSTEM_CALLS, /* all is, and each system call is stopped at */
};

/* Whether a function, or a system call, of that name is one of them. */
bool growth_wants(const char *name);

/* What may be the last call of a program: before it, the process can still be
   looked at. */
bool growth_is_end(const char *name);

/*
 * EVENT_CALL, _RETURN or _ABANDON, of whatever function. One within another of
 * them (a wrapper of mmap that calls mmap) is passed over.
 */
void growth_call(struct growth *growth, const struct event *event);

#endif
