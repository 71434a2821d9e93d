/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_ROWS_H
#define CALLTRAP_GROWTH_ROWS_H

#include "report/memory/config.h"

/* What one row of a table of growth says: of a stack, or of several together. */
struct growth_row {
	char *name;
	const struct growth_site *site; /* BY_STACK; NULL: of several */
	uint64_t calls, bytes;
	uint64_t there; /* of bytes: not given back yet */
	uint64_t back_calls, back;
	uint64_t key;      /* for the order of equal ones */
	UT_hash_handle hh; /* by name */
};

struct growth_rows {
	struct growth_row *list;
	size_t count;
};

/* Of one kind; sorted by what is there still (or --sort blocks: by calls). */
struct growth_rows growth_rows_of(const struct heap_report_config *config,
				  const struct growth *growth,
				  enum growth_kind kind) MUST_CHECK;
void growth_rows_sort_by_back(struct growth_rows *rows);
void growth_rows_fini(struct growth_rows *rows);

#endif
