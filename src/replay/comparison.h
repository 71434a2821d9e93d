/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COMPARISON_H
#define CALLTRAP_COMPARISON_H

#include <jansson.h>

#include "base/strbuf.h"
#include "replay/planner.h"

/* What was measured of one allocator, run by run. */
struct candidate {
	const char *file; /* "" is the C library's */
	const char *name; /* what it is called */
	struct replay_result *results;
};

struct comparison {
	const char *recording;
	struct plan_counts counts;
	struct plan_manner manner;
	unsigned runs;
	size_t count;
	struct candidate *candidates;
};

/* Allocators side by side: medians, least and most of all runs. */
void comparison_print(const struct comparison *comparison, struct strbuf *out);
json_t *comparison_json(const struct comparison *comparison) MUST_CHECK;

#endif
