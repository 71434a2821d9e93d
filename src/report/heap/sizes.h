/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REPORT_HEAP_SIZES_H
#define CALLTRAP_REPORT_HEAP_SIZES_H

#include "heap/heap.h"
#include "heap/log_histogram.h"

/* Sizes of blocks in powers of two, as far as there are any. */

struct size_row {
	uint64_t up_to; /* above half of that */
	uint64_t blocks;
	double percent; /* of all: how many are no larger */
};

/* Returns how many rows there are. */
size_t size_rows(const struct log_histogram *sizes,
		 struct size_row ret[SIZE_CLASSES]);

/* Those of all that was acquired. To be freed by log_histogram_fini(). */
struct log_histogram sizes_of_all(const struct heap *heap) MUST_CHECK;

#endif
