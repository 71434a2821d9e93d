/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_ELSEWHERE_H
#define CALLTRAP_HEAP_ELSEWHERE_H

#include "heap/watch.h"
#include "report/heap/rows.h"

/*
 * What makes the process larger and is in no row: memory that no watched
 * family acquires, or that an allocator has got and can't use again.
 */
struct elsewhere {
	/* Bytes a second: the RSS, and what the families hold of it. */
	double resident, held;
};

/* Whether most of a steady growth of the RSS isn't what is held. */
bool heap_grows_elsewhere(const struct heap_report_config *config,
			  const struct watched *process,
			  const struct survey *survey, uint64_t now,
			  struct elsewhere *ret);

#endif
