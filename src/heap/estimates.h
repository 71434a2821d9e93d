/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ESTIMATES_H
#define CALLTRAP_ESTIMATES_H

#include "heap/survey.h"

/* What is known of sites where not every block is kept, and how well. */
struct estimates {
	uint64_t samples; /* acquisitions that were kept; 0: all were */
	uint64_t blocks, alloc_blocks;
	struct estimate bytes; /* held, of the survey's age */
	struct estimate alloc_bytes;
};

void estimates_add_site(struct estimates *sum, const struct site *site,
			const struct survey_site *found);

/* A live block of a sampled family; what was acquired stays as it is. */
void estimates_add_block(struct estimates *sum, const struct heap_block *block);

/* All sites of a family. */
struct estimates estimates_of_family(const struct heap *heap,
				     const struct family *family,
				     const struct survey *survey);

/*
 * Where the bytes lie in 95 of 100 cases. Of numbers of blocks that can't be
 * said: small ones of which no sample was taken leave no trace in the variance,
 * and where sizes at a stack differ the truth lay inside in 56 to 90 of 100.
 */
struct estimate_ranges {
	struct estimate_range bytes, alloc_bytes;
};

struct estimate_ranges estimates_ranges(const struct estimates *estimates);

#endif
