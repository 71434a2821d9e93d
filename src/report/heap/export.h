/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_EXPORT_H
#define CALLTRAP_HEAP_EXPORT_H

#include "report/memory/export.h"

/* The data of the report for other programs: a file a format. */

/*
 * Each format makes one text or blob. They can't fail: what can't be told is
 * left out.
 */
void heap_folded_make(const struct heap_export *export, struct strbuf *out);
void heap_callgrind_make(const struct heap_export *export, struct strbuf *out);
void heap_json_make(const struct heap_export *export, struct strbuf *out);
void heap_pprof_make(const struct heap_export *export, struct strbuf *out);
void heap_svg_make(const struct heap_export *export, struct strbuf *out);

/* What a site holds: blocks of the age that counts (--older-than). */
struct heap_export_held {
	uint64_t blocks, bytes;
};

struct heap_export_held heap_export_held(const struct heap_export *export,
					 const struct site *site);

/* What one site weighs; 0 where it isn't memory that it acquires, or it is
   suppressed. */
uint64_t heap_export_weight(const struct heap_export *export,
			    const struct site *site);

/* "Heap in use", "bytes" */
struct heap_value_text {
	const char *what;
	const char *unit;
};

const struct heap_value_text *heap_export_value_text(enum heap_value value);

/* Whether any file is wanted at all. */
bool heap_export_is_wanted(const struct heap_export_options *options);

/*
 * Writes all files that are wanted, each whole or not at all. What goes wrong
 * with one doesn't keep the others.
 */
void heap_export_write(const struct heap_export *export,
		       const struct export_errors *errors);

#endif
