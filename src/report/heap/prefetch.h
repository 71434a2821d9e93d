/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_PREFETCH_H
#define CALLTRAP_HEAP_PREFETCH_H

#include "report/memory/config.h"

/*
 * The stacks that a report will name. Reading debug information takes its time,
 * up to seconds, while the process runs on: so it is asked for before the
 * report is made, for which tasks must wait at their traps.
 */
struct heap_prefetch;

struct heap_prefetch *heap_prefetch_new(void) MUST_CHECK;
void heap_prefetch_free(struct heap_prefetch *prefetch);

/* Of one process. all: of every site, for files; else those that the text will
   show. */
void heap_prefetch_add(struct heap_prefetch *prefetch,
		       const struct heap_report_config *config,
		       const struct watched *process, uint64_t now, bool all);

/* Never waits. False: ask again soon. */
bool heap_prefetch_is_done(const struct heap_report_config *config,
			   struct heap_prefetch *prefetch) MUST_CHECK;

#endif
