/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_EXPORT_H
#define CALLTRAP_HEAP_EXPORT_H

#include "report/memory/held.h"

/* The data of the report for other programs: a file a format. */

/*
 * Each format makes one text or blob. They can't fail: what can't be told is
 * left out.
 */
void heap_folded_make(const struct heap_export *export, struct strbuf *out);
void heap_callgrind_make(const struct heap_export *export, struct strbuf *out);
void heap_json_make(const struct heap_export *export, struct strbuf *out);
void heap_objects_make(const struct heap_export *export, struct strbuf *out);
void heap_pprof_make(const struct heap_export *export, struct strbuf *out);
void heap_svg_make(const struct heap_export *export, struct strbuf *out);

/* Where a long text goes, and who is told when another piece of it is there, and may
   take it. */
struct heap_pieces {
	struct strbuf *out;
	void (*added)(void *context);
	void *context;
};

void heap_json_put(const struct heap_export *export,
		   const struct heap_pieces *pieces);

/* "--svg" */
const char *heap_file_option(enum heap_file file);

/* Whether any file is wanted at all. */
bool heap_export_is_wanted(const struct heap_export_options *options);

/* Whether one is that needs struct heap_options.timeline. */
bool heap_export_needs_timeline(const struct heap_export_options *options);

/*
 * The same step by step, for who wants texts and not files: names (if they are
 * wanted) and .survey are made ready, and given up in the end.
 */
void heap_export_begin(struct heap_export *export, bool named);
void heap_export_make(const struct heap_export *export, enum heap_file file,
		      struct strbuf *out);
void heap_export_end(struct heap_export *export);

/*
 * Writes all files that are wanted, each whole or not at all. What goes wrong
 * with one doesn't keep the others.
 */
void heap_export_write(const struct heap_export *export,
		       const struct export_errors *errors);

#endif
