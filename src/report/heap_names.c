/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap_names.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* Frames are handed over in parts of this many. */
#define FRAMES_MAX 65536

void heap_names_prepare(const struct heap_report_config *config,
			const stack_id *stacks, size_t count, size_t depth)
{
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(FRAMES_MAX, sizeof(*frames));
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (used + depth > FRAMES_MAX) {
			namer_prepare(config->namer, frames, used);
			used = 0;
		}
		used += stacks_frames(config->stacks, stacks[i], frames + used,
				      depth);
	}
	namer_prepare(config->namer, frames, used);
}

void heap_names_prepare_all(const struct heap_report_config *config,
			    const struct heap *heap, size_t depth)
{
	size_t count = heap_site_count(heap);
	stack_id *stacks CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*stacks));

	for (size_t i = 0; i < count; i++)
		stacks[i] = heap_site(heap, i + 1)->stack;
	heap_names_prepare(config, stacks, count, depth);
}

void heap_names_prepare_growth(const struct heap_report_config *config,
			       const struct growth *growth)
{
	const size_t count = growth_site_count(growth);
	stack_id *stacks CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*stacks));

	for (size_t i = 0; i < count; i++)
		stacks[i] = growth_site(growth, i + 1)->stack;
	heap_names_prepare(config, stacks, count, UNWIND_DEPTH_MAX);
}
