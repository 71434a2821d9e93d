/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_TEXT_H
#define CALLTRAP_HEAP_TEXT_H

#include "base/demangle.h"
#include "heap/forecast.h"
#include "report/heap/rows.h"
#include "report/memory/text.h"

/*
 * The parts of the report, in their order. Each is lines added to an output;
 * what stands in them is told in calltrap(1), THE REPORT.
 */

/* Which process, how long, how often. */
int heap_text_head(const struct heap_text *text) MUST_CHECK;

/* That not every block is kept, where it is so. */
int heap_text_sampling(const struct heap_text *text) MUST_CHECK;

/* In which ranges the truth lies; nothing where every block is kept. */
int heap_text_estimates(const struct heap_text *text,
			const struct estimates *estimates,
			const char *indent) MUST_CHECK;

/* What somebody has to know first. */
int heap_text_short(const struct heap_text *text,
		    const struct heap_rows *rows) MUST_CHECK;

/* … of that its last line: where it leads from the worst row (NULL: none), or from
   what grows and is in no row. */
int heap_text_next(const struct heap_text *text, const struct heap_row *row,
		   bool is_elsewhere) MUST_CHECK;

/* Each family's totals, and what is wrong. */
int heap_text_summary(const struct heap_text *text,
		      const struct heap_rows *rows) MUST_CHECK;

int heap_text_family(const struct heap_text *text, const struct family *family,
		     const struct heap_total *total) MUST_CHECK;

/* What is held, by verdict. */
int heap_text_levels(const struct heap_text *text,
		     const struct heap_sum *levels) MUST_CHECK;

/* The same, what is suppressed and what can still be reached. */
int heap_text_leaks(const struct heap_text *text,
		    const struct heap_rows *rows) MUST_CHECK;

/* What a reader may take for something else: caches, Python's objects. */
int heap_text_notes(const struct heap_text *text,
		    const struct heap_rows *rows) MUST_CHECK;

/* Why it isn't told what blocks are. */
int heap_text_untyped(const struct heap_text *text) MUST_CHECK;

/* Python acquires by its own library, or is one program with it. */
bool heap_text_has_python(const struct heap_text *text);

/* What the kernel says of the process, and where that leads. */
int heap_text_process(const struct heap_text *text) MUST_CHECK;

/* How what a family holds grows; NULL: the process's RSS. */
struct rise heap_text_rise(const struct heap_text *text,
			   const struct family *family);

/* What the process may still grow by, and what ends there. False: nobody has
   seen how much there is. */
struct heap_text_room {
	uint64_t bytes;
	const char *what;
};

bool heap_text_room(const struct vitals *now, struct heap_text_room *ret);

/* When it ends there, or would have; nothing if that isn't certain. */
void heap_text_forecast(const struct heap_text *text, const char *before,
			const struct heap_text_room *room,
			const struct forecast *forecast);

int heap_text_rows(const struct heap_text *text,
		   const struct heap_rows *rows) MUST_CHECK;

/* The source text of the rows, if that is wanted. */
int heap_text_source(const struct heap_text *text,
		     const struct heap_rows *rows) MUST_CHECK;

/* Which functions were called, and by which libraries. */
int heap_text_calls(const struct heap_text *text) MUST_CHECK;

/* What each call has done that --per names. */
int heap_text_per(const struct heap_text *text) MUST_CHECK;

/* What libraries and components hold, and held at most. */
int heap_text_holders(const struct heap_text *text) MUST_CHECK;

/* Pairs of stacks: double frees, and the like. */
int heap_text_incidents(const struct heap_text *text) MUST_CHECK;

/* What was lost, and what being watched has cost. */
int heap_text_foot(const struct heap_text *text) MUST_CHECK;

/* What the linker knows by that name, as it is written. */
void heap_text_symbol(const struct heap_text *text, struct demangler *demangler,
		      const char *symbol);

/* C++'s operators as they are written. */
void heap_text_function(const struct heap_text *text,
			const struct family_function *function);

/*
 * What a site is called in one line: the function, and who is behind it (see
 * heap_caller()).
 */
void heap_text_site(const struct heap_text *text, const struct site *site);

/* … or what a row is called. */
void heap_text_what(const struct heap_text *text, const struct heap_row *row);

/* "80 bytes in 20 blocks at 1 site", and what of it is leaked. */
void heap_text_sum(const struct heap_text *text, const struct heap_sum *sum);

/* All of it in one line instead, with that tag. */
int heap_text_dump_line(const struct heap_text *text,
			const char *tag) MUST_CHECK;

/* Sizes of blocks in powers of two; nothing if there are none. */
int heap_text_sizes(const struct heap_text *text,
		    const struct log_histogram *sizes) MUST_CHECK;

/* The same of all that was acquired, if that is wanted. */
int heap_text_all_sizes(const struct heap_text *text) MUST_CHECK;

/* What is acquired at a stack that makes the process grow, if that is known:
   what text->rows have. */
int heap_text_cause(const struct heap_text *text,
		    const struct growth_site *site) MUST_CHECK;

#endif
