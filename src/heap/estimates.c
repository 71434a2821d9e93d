/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/estimates.h"

static void add(struct estimate *sum, uint64_t total,
		const struct sample_spread *spread)
{
	sum->total += total;
	sum->spread.variance += spread->variance;
	sum->spread.third += spread->third;
}

void estimates_add_site(struct estimates *sum, const struct site *site,
			const struct survey_site *found)
{
	if (!site->samples)
		return;
	sum->samples += site->samples;
	sum->blocks += found->blocks;
	sum->alloc_blocks += site->alloc_blocks;
	add(&sum->bytes, found->bytes, &found->byte_spread);
	add(&sum->alloc_bytes, site->alloc_bytes, &site->byte_spread);
}

void estimates_add_block(struct estimates *sum, const struct heap_block *block)
{
	const struct sample_weight *weight = &block->weight;

	if (!block->site->samples)
		return;
	sum->samples++;
	sum->blocks += weight->count;
	sum->bytes.total += weight->count * block->size;
	sample_spread_add(&sum->bytes.spread, weight, block->size);
}

struct estimates estimates_of_family(const struct heap *heap,
				     const struct family *family,
				     const struct survey *survey)
{
	struct estimates sum = { 0 };

	for (size_t n = 1; n <= heap_site_count(heap); n++) {
		const struct site *site = heap_site(heap, n);

		if (site->function->family == family)
			estimates_add_site(&sum, site,
					   survey_site(survey, site));
	}
	return sum;
}

/* Of what is held there may be no sample any more. */
struct estimate_ranges estimates_ranges(const struct estimates *estimates)
{
	const double bytes = estimate_unit(&estimates->alloc_bytes);

	return (struct estimate_ranges){
		.bytes = estimate_range(&estimates->bytes, bytes),
		.alloc_bytes = estimate_range(&estimates->alloc_bytes, 0),
	};
}
