/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_EXPORT_H
#define CALLTRAP_GROWTH_EXPORT_H

#include "report/memory/export.h"

/* What makes a process grow, for other programs: a file a kind. */

/* What it is called, and in which unit its stacks weigh. */
struct growth_kind_text {
	const char *word;  /* of --growth, and of %k in paths */
	const char *title; /* of a picture */
	const char *unit;
};

struct growth_kind_text growth_kind_text(const struct heap_export *export,
					 enum growth_kind kind);

/* Whether the function itself has to be added to the stack: system calls are
   made within it. */
bool growth_leaf_is_missing(const struct heap_export *export,
			    const struct growth_site *site);

void growth_pprof_make(const struct heap_export *export, enum growth_kind kind,
		       struct strbuf *out);

/* Writes all files that are wanted; as heap_export_write(). */
void growth_export_write(const struct heap_export *export,
			 const struct export_errors *errors);

#endif
