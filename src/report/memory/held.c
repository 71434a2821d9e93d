/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/held.h"

/* Blocks that are being given back are held until that is done; only a count
   by age doesn't have them. */
struct heap_export_held heap_export_held(const struct heap_export *export,
					 const struct site *site)
{
	const struct survey_site *ages;

	if (!export->config->options->older_than)
		return (struct heap_export_held){ site->blocks, site->bytes };
	ages = survey_site(export->survey, site);
	return (struct heap_export_held){ ages->blocks, ages->bytes };
}

bool heap_export_is_shown(const struct site *site)
{
	return site->function->family->has_size && site->alloc_blocks &&
	       !site->suppression;
}

uint64_t heap_export_weight(const struct heap_export *export,
			    const struct site *site)
{
	if (!site->function->family->has_size || site->suppression)
		return 0;
	switch (export->options->value) {
	case HEAP_INUSE_BYTES:
		return heap_export_held(export, site).bytes;
	case HEAP_INUSE_BLOCKS:
		return heap_export_held(export, site).blocks;
	case HEAP_ALLOC_BYTES:
		return site->alloc_bytes;
	case HEAP_ALLOC_BLOCKS:
		return site->alloc_blocks;
	case HEAP_PEAK_BYTES:
		return heap_at_peak(export->process->heap, site).bytes;
	case HEAP_PEAK_BLOCKS:
		return heap_at_peak(export->process->heap, site).blocks;
	case HEAP_TEMPORARY_BLOCKS:
		return site->temporary.blocks;
	case HEAP_VALUES:
		break;
	}
	return 0;
}

const struct heap_value_text *heap_export_value_text(enum heap_value value)
{
	static const struct heap_value_text texts[] = {
		[HEAP_INUSE_BYTES] = { "Heap in use", "bytes", "Heap in Use" },
		[HEAP_INUSE_BLOCKS] = { "Heap in use", "blocks",
					"Heap in Use" },
		[HEAP_ALLOC_BYTES] = { "Heap acquired", "bytes",
				       "Heap Acquired" },
		[HEAP_ALLOC_BLOCKS] = { "Heap acquired", "blocks",
					"Heap Acquired" },
		[HEAP_PEAK_BYTES] = { "Heap at its peak", "bytes",
				      "Heap at Its Peak" },
		[HEAP_PEAK_BLOCKS] = { "Heap at its peak", "blocks",
				       "Heap at Its Peak" },
		[HEAP_TEMPORARY_BLOCKS] = { "Heap temporarily acquired",
					    "blocks",
					    "Heap Temporarily Acquired" },
	};

	return &texts[value];
}

bool heap_value_is_in_bytes(enum heap_value value)
{
	return value == HEAP_INUSE_BYTES || value == HEAP_ALLOC_BYTES ||
	       value == HEAP_PEAK_BYTES;
}
