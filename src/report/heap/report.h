/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_REPORT_H
#define CALLTRAP_HEAP_REPORT_H

#include "report/memory/config.h"

/* The report of calltrap heap, as text. */
struct heap_report;

int heap_report_new(const struct heap_report_config *config,
		    struct heap_report **ret) MUST_CHECK;
void heap_report_free(struct heap_report *report);

/* What follows is of a recording that was made at another time. */
void heap_report_set_wall(struct heap_report *report, uint64_t offset);

/*
 * Prints what is known of a process by now. A negative errno when the output
 * can't be written.
 */
int heap_report_print(struct heap_report *report, const struct watched *process,
		      uint64_t now, const struct heap_cost *cost) MUST_CHECK;

/* One line instead: the time, the tag, and who holds how much. */
int heap_report_line(struct heap_report *report, const struct watched *process,
		     uint64_t now, const char *tag) MUST_CHECK;

/* All processes together, where there were several, and all in one file. */
int heap_report_finish(struct heap_report *report) MUST_CHECK;

/* Whether some of what a process holds is likely to be leaked, but for what is
   suppressed. */
bool heap_report_has_leaks(const struct heap_report_config *config,
			   const struct heap *heap, uint64_t now) MUST_CHECK;

#endif
