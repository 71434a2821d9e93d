/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MEMORY_EXPORT_H
#define CALLTRAP_MEMORY_EXPORT_H

#include "heap/survey.h"
#include "report/memory/config.h"

/* The data of the report for other programs: a file a format. */

/* What stacks weigh, where a format has one number for each. */
enum heap_value {
	HEAP_INUSE_BYTES,
	HEAP_INUSE_BLOCKS,
	HEAP_ALLOC_BYTES,
	HEAP_ALLOC_BLOCKS,
	HEAP_PEAK_BYTES,
	HEAP_PEAK_BLOCKS,
	HEAP_TEMPORARY_BLOCKS,
	HEAP_VALUES,
};

/* The files that there are, each named by an option. */
enum heap_file {
	HEAP_FILE_JSON,
	HEAP_FILE_SVG,
	HEAP_FILE_FOLDED,
	HEAP_FILE_PPROF,
	HEAP_FILE_CALLGRIND,
	HEAP_FILE_SPEEDSCOPE,
	HEAP_FILE_DHAT,
	HEAP_FILE_MASSIF,
	HEAP_FILE_FIREFOX,
	HEAP_FILE_HTML,
	HEAP_FILE_OBJECTS,
	HEAP_FILES,
};

struct heap_export_options {
	/* Paths; "%p" becomes the process id. NULL: not wanted. */
	const char *files[HEAP_FILES];
	enum heap_value value;
};

/* What a writer is given. */
struct heap_export {
	const struct heap_report_config *config;
	const struct heap_export_options *options;
	const struct watched *process;
	const struct heap_cost *cost;
	uint64_t now; /* monotonic */
	/* Profiles have only what Go's have, of which a difference in time can
	   be told. */
	bool served;
	const struct survey *survey; /* of the process's heap, by then; made by
					heap_export_write() */
};

/* Is told of each file that can't be written. */
struct export_errors {
	void (*told)(void *context, const char *path, int err);
	void *context;
};

/*
 * Expands a path's "%p", and writes that file whole, or not at all.
 */
void heap_export_write_file(const struct heap_export *export,
			    const char *pattern, const struct strbuf *out,
			    const struct export_errors *errors);

#endif
