/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SITE_H
#define CALLTRAP_SITE_H

#include "heap/family.h"
#include "heap/history.h"
#include "heap/log_histogram.h"
#include "heap/sampling.h"
#include "heap/timeline.h"
#include "stack/stacks.h"

struct site_amount {
	uint64_t blocks, bytes;
};

/*
 * A distinct call stack that acquires by one function, and what became of it.
 * There may be so many that nearly every act finds its own far away in memory:
 * what changes together lies together.
 */
struct site {
	const struct family_function *function;
	const char *library; /* of the caller, or NULL */
	stack_id stack;
	uint32_t number;    /* from 1 on */
	unsigned component; /* 0: none */
	uint16_t thread;    /* see heap_site_thread() */

	/* By each act: */
	uint64_t blocks, bytes; /* outstanding */
	uint64_t peak_blocks, peak_bytes, peak_time;
	/* Of its family's peak; what isn't up to date there, heap_at_peak()
	   knows. */
	struct site_amount at_peak;
	uint64_t at_peak_number;
	struct heap_holder *library_holder, *component_holder;
	struct history history; /* nothing before there are two blocks */
	struct timeline_cells times_of_blocks; /* struct heap_options.timeline */

	/* By acquisitions: */
	uint64_t alloc_blocks, alloc_bytes;
	uint64_t last_time;         /* monotonic */
	int64_t total_ns;           /* see heap_mean_time() */
	struct log_histogram times; /* in the function; ns */
	struct log_histogram sizes; /* of those acquired, less 1 */

	/* By what ends a lifetime. A resize does, too, but says little about
	   how long such blocks live. */
	struct log_histogram lifetimes; /* of those given back; ns */
	double lifetime_ns;             /* … of all that are gone, in sum */
	uint64_t freed_blocks, freed_bytes;
	uint64_t last_free; /* 0: never one */
	uint64_t resized;
	struct site_amount temporary; /* see struct heap_total */

	/* By few. Where not all is kept: acquisitions that were, and how far
	   .alloc_blocks and .alloc_bytes may be off. */
	uint64_t samples;
	struct sample_spread byte_spread;
	uint64_t first_time; /* of acquisitions */
	uint64_t failed;
	uint64_t adopted;     /* blocks of before that were resized here */
	unsigned suppression; /* see heap_suppress() */
};

#endif
