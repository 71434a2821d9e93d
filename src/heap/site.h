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

/* A distinct call stack that acquires by one function, and what became of it. */
struct site {
	uint32_t number; /* from 1 on */
	stack_id stack;
	const struct family_function *function;
	const char *library;  /* of the caller, or NULL */
	unsigned component;   /* 0: none */
	unsigned suppression; /* see heap_suppress() */
	uint16_t thread;      /* see heap_site_thread() */

	uint64_t blocks, bytes; /* outstanding */
	uint64_t alloc_blocks, alloc_bytes;
	uint64_t freed_blocks, freed_bytes;
	/* Where not all is kept: acquisitions that were, and how far
	   .alloc_blocks and .alloc_bytes may be off. */
	uint64_t samples;
	struct sample_spread byte_spread;
	uint64_t failed;
	uint64_t peak_blocks, peak_bytes, peak_time;
	/* Of its family's peak; what isn't up to date there, heap_at_peak()
	   knows. */
	struct site_amount at_peak;
	uint64_t at_peak_number;
	struct site_amount temporary;   /* see struct heap_total */
	uint64_t first_time, last_time; /* of acquisitions, monotonic */
	uint64_t last_free;             /* 0: never one */

	/* A resize ends a lifetime, too, but says little about how long such
	   blocks live. */
	uint64_t resized;
	uint64_t adopted; /* blocks of before that were resized here */
	struct log_histogram lifetimes; /* of those given back; ns */
	double lifetime_ns;             /* … of all that are gone, in sum */
	struct log_histogram times;     /* in the function; ns */
	int64_t total_ns;               /* see heap_mean_time() */
	struct log_histogram sizes;     /* of those acquired, less 1 */
	struct heap_holder *library_holder, *component_holder;
	struct history history; /* nothing before there are two blocks */
	struct timeline_cells times_of_blocks; /* struct heap_options.timeline */
};

#endif
