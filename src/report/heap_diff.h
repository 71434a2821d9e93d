/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_DIFF_H
#define CALLTRAP_HEAP_DIFF_H

#include "base/strbuf.h"
#include "report/heap_export.h"
#include "report/profile_reader.h"

/* Two profiles of a heap, site by site. */
struct heap_diff;

/*
 * Sites are the same if their stacks have the same functions and the same
 * allocator; and the same lines, if the program is the very same one (by its
 * build-id). The profiles stay the caller's. value says what is compared: what
 * is in use, or all that was allocated; and what folded stacks weigh.
 */
struct heap_diff *heap_diff_new(struct profile *before, struct profile *now,
				enum heap_value value) MUST_CHECK;
void heap_diff_free(struct heap_diff *diff);

/* A table of what has changed, at most top rows of each kind (0: all). */
void heap_diff_print(struct heap_diff *diff, unsigned top, struct strbuf *out);

/* "root;...;leaf BEFORE NOW", as difffolded.pl writes it for flamegraph.pl. */
void heap_diff_fold(struct heap_diff *diff, struct strbuf *out);

#endif
