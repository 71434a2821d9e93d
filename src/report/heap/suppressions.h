/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SUPPRESSIONS_H
#define CALLTRAP_SUPPRESSIONS_H

#include "report/memory/config.h"

/*
 * Stacks that are not to be reported (calltrap(1), SUPPRESSIONS): lines of
 * files, numbered from 1 on over all files.
 */
struct suppressions;

struct suppressions *suppressions_new(void) MUST_CHECK;
void suppressions_free(struct suppressions *all);

/*
 * Adds the lines of a file. What is wrong in one is reported through diag, and
 * the line left out. A negative errno when the file can't be read.
 */
int suppressions_read(struct suppressions *all, const char *path) MUST_CHECK;

size_t suppressions_count(const struct suppressions *all);

/* "FILE:LINE: PATTERNS" */
const char *suppressions_text(const struct suppressions *all, size_t number);

/*
 * Looks at the sites that are new in the heap since the last time, and gives
 * each the number of the first line that it matches, or 0.
 */
void suppressions_apply(struct suppressions *all,
			const struct heap_report_config *config,
			struct heap *heap);

#endif
