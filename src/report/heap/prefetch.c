/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/prefetch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "heap/caller.h"
#include "report/heap/rows.h"
#include "report/memory/names.h"

struct heap_prefetch {
	stack_id *stacks;
	const char **callees; /* of each; NULL: not known */
	size_t count, room, callee_room;
	size_t depth;         /* of each that is wanted */
	size_t named;         /* of them */
	struct frame *frames; /* of wrappers; or NULL */
	size_t frame_count;
};

/* Each time so long, and so many at once: who asks has others to serve. */
#define BRIEFLY (NS_PER_SECOND / 250)
#define SLICE   50

static void add(struct heap_prefetch *prefetch, stack_id stack,
		const char *callee)
{
	prefetch->callees = xgrow(prefetch->callees, prefetch->count,
				  &prefetch->callee_room,
				  sizeof(*prefetch->callees));
	prefetch->callees[prefetch->count] = callee;
	prefetch->stacks = xgrow(prefetch->stacks, prefetch->count,
				 &prefetch->room, sizeof(*prefetch->stacks));
	prefetch->stacks[prefetch->count++] = stack;
}

static void add_site(struct heap_prefetch *prefetch, const struct site *site)
{
	add(prefetch, site->stack, site->function->name);
}

static void add_sites(struct heap_prefetch *prefetch, const struct heap *heap)
{
	for (size_t i = 1; i <= heap_site_count(heap); i++)
		add_site(prefetch, heap_site(heap, i));
}

static void add_rows(struct heap_prefetch *prefetch,
		     const struct heap_report_config *config,
		     const struct heap *heap, uint64_t now)
{
	struct heap_rows rows = heap_rows_of(config, heap, now);
	unsigned top = config->options->top;
	size_t limit = top && top < rows.count ? top : rows.count;

	for (size_t i = 0; i < limit; i++)
		if (rows.list[i]->site)
			add_site(prefetch, rows.list[i]->site);
	heap_rows_fini(&rows);
}

static void add_incidents(struct heap_prefetch *prefetch,
			  const struct heap_report_config *config,
			  const struct heap *heap, enum incident_kind kind)
{
	unsigned top = config->options->top;
	size_t count = heap_incident_count(heap, kind);

	for (size_t i = 0; i < count && (!top || i < top); i++) {
		add(prefetch, heap_incident_at(heap, kind, i)->first, NULL);
		add(prefetch, heap_incident_at(heap, kind, i)->second, NULL);
	}
}

static void add_growth(struct heap_prefetch *prefetch,
		       const struct growth *growth)
{
	for (size_t i = 1; i <= growth_site_count(growth); i++)
		add(prefetch, growth_site(growth, i)->stack, NULL);
}

static void add_wrappers(struct heap_prefetch *prefetch,
			 const struct heap_report_config *config,
			 const struct heap *heap)
{
	if (!config->wrappers)
		return;
	prefetch->frames =
		xreallocarray(prefetch->frames,
			      prefetch->frame_count + WRAPPER_FRAMES_MAX,
			      sizeof(*prefetch->frames));
	prefetch->frame_count +=
		wrappers_frames(heap, config->stacks,
				prefetch->frames + prefetch->frame_count);
}

struct heap_prefetch *heap_prefetch_new(void)
{
	return xcalloc(1, sizeof(struct heap_prefetch));
}

void heap_prefetch_add(struct heap_prefetch *prefetch,
		       const struct heap_report_config *config,
		       const struct watched *process, uint64_t now, bool all)
{
	const struct heap *heap = process->heap;
	enum heap_by by = config->options->by;

	prefetch->depth = UNWIND_DEPTH_MAX;
	add_wrappers(prefetch, config, heap);
	if (process->growth)
		add_growth(prefetch, process->growth);
	for (unsigned kind = 0; kind < INCIDENT_KINDS; kind++)
		add_incidents(prefetch, config, heap, kind);
	if (all || config->suppressions) {
		add_sites(prefetch, heap);
	} else if (by == HEAP_BY_FUNCTION || by == HEAP_BY_LINE ||
		   by == HEAP_BY_SCRIPT) {
		prefetch->depth = HEAP_CALLER_DEPTH;
		add_sites(prefetch, heap);
	} else if (by == HEAP_BY_STACK) {
		add_rows(prefetch, config, heap, now);
	}
}

void heap_prefetch_free(struct heap_prefetch *prefetch)
{
	if (!prefetch)
		return;
	free(prefetch->stacks);
	free(prefetch->callees);
	free(prefetch->frames);
	free(prefetch);
}

/* The namer has the names then; symbols and demangling take their time, too. */
static void name(const struct heap_report_config *config, stack_id stack,
		 const char *callee, size_t depth)
{
	size_t count;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(config->namer, config->stacks, stack, callee,
			     &count);

	for (size_t i = 0; i < count && i < depth; i++) {
		const struct frame_name *names;

		namer_names(config->namer, &frames[i], &names);
	}
}

bool heap_prefetch_is_done(const struct heap_report_config *config,
			   struct heap_prefetch *prefetch)
{
	const uint64_t until = clock_now() + BRIEFLY;

	if (prefetch->frame_count &&
	    !namer_prefetch(config->namer, prefetch->frames,
			    prefetch->frame_count))
		return false;
	prefetch->frame_count = 0;
	while (prefetch->named < prefetch->count && clock_now() < until) {
		size_t left = prefetch->count - prefetch->named;
		size_t count = left < SLICE ? left : SLICE;
		const stack_id *stacks = prefetch->stacks + prefetch->named;

		if (!heap_names_prefetch(config, stacks, count,
					 prefetch->depth))
			return false;
		for (size_t i = 0; i < count; i++)
			name(config, stacks[i],
			     prefetch->callees[prefetch->named + i],
			     prefetch->depth);
		if (namer_is_reading(config->namer))
			return false;
		prefetch->named += count;
	}
	return prefetch->named == prefetch->count;
}
