/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_REPORT_H
#define CALLTRAP_HEAP_REPORT_H

#include <stdbool.h>

#include "heap/watch.h"
#include "stack/namer.h"
#include "stack/unwind.h"

/* The report of calltrap heap, as text. */
struct heap_report;

struct heap_report_options {
	const char *path;     /* -o; NULL is standard error */
	unsigned top;         /* rows; 0: all */
};

/* What being traced has cost the process. */
struct heap_cost {
	uint64_t stops;
	uint64_t stopped_ns;  /* all tasks together, from stop to resumption */
	struct unwind_counts stacks;
};

struct heap_report_config {
	const struct heap_report_options *options;
	const struct stacks *stacks;
	const struct families *families;
	struct namer *namer;
};

int heap_report_new(const struct heap_report_config *config,
		    struct heap_report **ret) MUST_CHECK;
void heap_report_free(struct heap_report *report);

/*
 * Prints what is known of a process by now. A negative errno when the output
 * can't be written.
 */
int heap_report_print(struct heap_report *report,
		      const struct watched *process, uint64_t now,
		      const struct heap_cost *cost) MUST_CHECK;

#endif
