/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_CONFIG_H
#define CALLTRAP_MEMORY_CONFIG_H

#include <stdbool.h>

#include "base/clock.h"
#include "heap/per_calls.h"
#include "heap/watch.h"
#include "heap/wrappers.h"
#include "naming/namer.h"
#include "stack/unwind.h"
#include "tracee/cost.h"

/* What reports of a process's memory are asked to show, and what they need. */

/* What a row stands for. */
enum heap_by {
	HEAP_BY_STACK,
	HEAP_BY_FUNCTION,
	HEAP_BY_LINE,
	HEAP_BY_LIBRARY,
	HEAP_BY_THREAD,
	HEAP_BY_SIZE,
	HEAP_BY_COMPONENT,
	HEAP_BY_SCRIPT,
};

/* What comes first. */
enum heap_order {
	HEAP_ORDER_BYTES,
	HEAP_ORDER_BLOCKS,
	HEAP_ORDER_RATE,
	HEAP_ORDER_AGE,
};

struct heap_report_options {
	const char *path; /* -o; "%p" becomes the process id: a file each;
				NULL is standard error */
	enum heap_by by;
	enum heap_order order;
	unsigned top;        /* rows; 0: all */
	uint64_t older_than; /* nanoseconds: younger blocks don't count */
	bool histogram;      /* sizes, per row and in total */
	bool source;         /* BY_LINE: the source text, too */
	unsigned growth;     /* --growth: GROWTH_BIT()s; 0: none */
	bool blocks_too;     /* … and blocks that aren't given back */
	enum growth_by growth_by;
};

/* Whether blocks are of interest at all. */
static inline bool
heap_report_has_blocks(const struct heap_report_options *options)
{
	return !options->growth || options->blocks_too;
}

/* What being traced has cost. */
struct heap_cost {
	struct cost cost;
	uint64_t stopped_ns; /* of all tasks, from stop to resumption */
	struct unwind_counts stacks;
	uint64_t report_began; /* monotonic: when it was begun to be made */
	const char *refused;   /* functions that could not be trapped, and why;
				NULL: none, or not known any more */
};

struct output_policy;
struct suppressions;

struct heap_report_config {
	const struct heap_report_options *options;
	const struct stacks *stacks;
	const struct families *families;
	struct namer *namer;
	char *const *components; /* names, that of number 1 first; or NULL */
	unsigned component_count;
	struct suppressions *suppressions; /* or NULL */
	struct wrappers *wrappers;    /* of the process reported on last, which
				      heap_names_wrappers() finds; or NULL */
	const struct per_calls *per;  /* --per; or NULL */
	bool scripts;                 /* stacks are those of scripts */
	struct output_policy *policy; /* see struct output; or NULL */
	/* What to add to the times of acts for those of the clock when they
	   happened; 0: that is now. */
	uint64_t wall_offset;
	bool played; /* acts come from a recording, not from processes */
};

/* The name of a component; NULL: that is none. */
static inline const char *
heap_report_component(const struct heap_report_config *config, unsigned number)
{
	return number && number <= config->component_count ?
		       config->components[number - 1] :
		       NULL;
}

/* The clock at a monotonic time, in nanoseconds since 1970. */
static inline uint64_t heap_report_wall(const struct heap_report_config *config,
					uint64_t monotonic)
{
	return config->wall_offset ? monotonic + config->wall_offset :
				     clock_wall(monotonic);
}

#endif
