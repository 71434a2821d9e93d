/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_ROWS_H
#define CALLTRAP_HEAP_ROWS_H

#include "heap/estimates.h"
#include "heap/verdict.h"
#include "heap/watch.h"
#include "report/memory/config.h"

/* What a row has of its own that isn't a site's. */
struct heap_row_own {
	char *name;
	struct log_histogram ages, sizes, lifetimes, times;
	struct estimates estimates;
	struct heap_row *row;
	UT_hash_handle hh; /* by name */
};

/*
 * What one row of the report says: of a site, or of several together. There may
 * be very many of the former: what their site has isn't copied.
 */
struct heap_row {
	const struct site *site;        /* BY_STACK; NULL: of several */
	struct heap_row_own *own;       /* … then; else NULL */
	const struct frame_name *place; /* BY_LINE, where it has a file; else
					   NULL */
	bool has_size;                  /* what it counts are bytes */
	uint64_t blocks, bytes;         /* of the age that counts */
	uint64_t alloc_blocks, alloc_bytes;
	uint64_t freed_blocks, freed_bytes;
	uint64_t temporary_blocks;
	uint64_t oldest;                  /* age */
	const struct log_histogram *ages; /* in nanoseconds */
	/* Of live blocks, less 1; of a site, of all that it acquired. */
	const struct log_histogram *sizes;
	const struct log_histogram *lifetimes;
	double lifetime_ns;                /* in sum; see struct site */
	const struct log_histogram *times; /* in the allocator */
	int64_t total_ns;
	bool is_of_sites;              /* else of blocks: what is given back and
				       how long that took isn't known */
	const struct verdict *verdict; /* of a site; else the worst one's; of
					  blocks one that says nothing */
	/* It belongs to the leak of a row before; or what belongs to this. */
	bool is_part;
	uint64_t parts, part_bytes, part_blocks;
	uint64_t key; /* for the order of equal ones */
};

/* What several sites hold. */
struct heap_sum {
	uint64_t sites, blocks, bytes;
	uint64_t other_sites, others; /* without a size */
	/* What of the former is leaked, where it isn't all. */
	uint64_t leaked_blocks, leaked_bytes;
	uint64_t lost_blocks, lost_bytes; /* to which nothing leads any more */
};

struct heap_rows {
	struct heap_row **list;
	size_t count;
	struct heap_sum levels[VERDICT_LIKELY + 1]; /* NOT, POSSIBLE, LIKELY */
	bool likely_by_growth; /* … the last of any site, which may be wrong */
	/* What is in no row: the first all that, then by line; NULL when
	   nothing is suppressed. */
	struct heap_sum *suppressed;
	struct survey *survey;
	struct verdicts *verdicts; /* rows point there */
};

static inline bool
heap_rows_are_of_blocks(const struct heap_report_options *options)
{
	return options->by == HEAP_BY_THREAD || options->by == HEAP_BY_SIZE ||
	       options->by == HEAP_BY_SCRIPT;
}

/* Rows of blocks, not of sites, have no verdicts. */
static inline bool
heap_rows_have_levels(const struct heap_report_options *options)
{
	return !heap_rows_are_of_blocks(options);
}

/* Sorted: what leaks first, then as the options say. */
struct heap_rows heap_rows_of(const struct heap_report_config *config,
			      const struct heap *heap, uint64_t now) MUST_CHECK;
void heap_rows_fini(struct heap_rows *rows);

/* .samples 0: every block was kept. */
struct estimates heap_row_estimates(const struct heap_rows *rows,
				    const struct heap_row *row);

#endif
