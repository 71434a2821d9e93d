/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_FORESEEN_H
#define CALLTRAP_HEAP_FORESEEN_H

#include "report/memory/config.h"

/*
 * The stacks that a report will name. Reading debug information takes its time,
 * up to seconds, while the process runs on: so it is asked for before the
 * report is made, for which tasks must wait at their traps.
 */
struct heap_foreseen;

struct heap_foreseen *heap_foreseen_new(void) MUST_CHECK;
void heap_foreseen_free(struct heap_foreseen *foreseen);

/* Of one process. all: of every site, for files; else those that the text will
   show. */
void heap_foreseen_add(struct heap_foreseen *foreseen,
		       const struct heap_report_config *config,
		       const struct watched *process, uint64_t now, bool all);

/* Never waits. False: ask again soon. */
bool heap_foreseen_are_named(const struct heap_report_config *config,
			     struct heap_foreseen *foreseen) MUST_CHECK;

#endif
