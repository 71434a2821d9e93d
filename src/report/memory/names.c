/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/names.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* Frames are handed over in parts of this many. */
#define FRAMES_MAX 65536

static bool ask(const struct heap_report_config *config,
		const struct frame *frames, size_t count, bool wait)
{
	if (!wait)
		return namer_prefetch(config->namer, frames, count);
	namer_prepare(config->namer, frames, count);
	return true;
}

static bool ask_all(const struct heap_report_config *config,
		    const stack_id *stacks, size_t count, size_t depth,
		    bool wait)
{
	size_t room = count * depth < FRAMES_MAX ? count * depth : FRAMES_MAX;
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(room + 1, sizeof(*frames));
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (used + depth > room) {
			if (!ask(config, frames, used, wait))
				return false;
			used = 0;
		}
		used += stacks_frames(config->stacks, stacks[i], frames + used,
				      depth);
	}
	return ask(config, frames, used, wait);
}

void heap_names_prepare(const struct heap_report_config *config,
			const stack_id *stacks, size_t count, size_t depth)
{
	ask_all(config, stacks, count, depth, true);
}

bool heap_names_prefetch(const struct heap_report_config *config,
			 const stack_id *stacks, size_t count, size_t depth)
{
	return ask_all(config, stacks, count, depth, false);
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

void heap_names_wrappers(const struct heap_report_config *config,
			 const struct heap *heap)
{
	struct frame *frames CLEANUP(xfree_cleanup) = NULL;
	size_t count;

	if (!config->wrappers)
		return;
	frames = xcalloc(WRAPPER_FRAMES_MAX, sizeof(*frames));
	count = wrappers_frames(heap, config->stacks, frames);
	namer_prepare(config->namer, frames, count);
	wrappers_find(config->wrappers, heap, config->stacks, config->namer);
}
