/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TRACE_DETAIL_H
#define CALLTRAP_TRACE_DETAIL_H

#include "cli/detail.h"
#include "cli/session.h"

/* --max-overhead of a log: looks at what it costs now and then. */
struct trace_detail {
	struct detail detail; /* .most 0: it may be any */
	uint64_t next;        /* look, monotonic */
};

void trace_detail_begin(struct trace_detail *own, struct session *session);

/* Looks if it is time, and sets the session's alarm. */
void trace_detail_look(struct trace_detail *own, struct session *session);

/* What it has cost, and what was left out. */
void trace_detail_tell(const struct trace_detail *own,
		       const struct session *session);

#endif
