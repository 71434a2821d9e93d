/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_NAMES_H
#define CALLTRAP_HEAP_NAMES_H

#include "report/memory/config.h"

/*
 * Has all frames named at once that will be shown: debug information is asked
 * once for each file, not once for each frame. At most depth frames of each
 * stack.
 */
void heap_names_prepare(const struct heap_report_config *config,
			const stack_id *stacks, size_t count, size_t depth);

/* The same without waiting: false as long as some are being read; see
   namer_prefetch(). */
bool heap_names_prefetch(const struct heap_report_config *config,
			 const stack_id *stacks, size_t count,
			 size_t depth) MUST_CHECK;

/* Waits, for every site of a heap … */
void heap_names_prepare_all(const struct heap_report_config *config,
			    const struct heap *heap, size_t depth);

/* … and of all that makes a process grow. */
void heap_names_prepare_growth(const struct heap_report_config *config,
			       const struct growth *growth);

/* Finds config->wrappers, waiting for what names they have. */
void heap_names_wrappers(const struct heap_report_config *config,
			 const struct heap *heap);

#endif
