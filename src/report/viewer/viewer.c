/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/viewer/viewer.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/json_put.h"
#include "report/format/names.h"

static void add_site(struct viewer *viewer, const struct site *site)
{
	const struct heap_report_config *config = viewer->export->config;
	struct viewer_site *row = &viewer->sites[viewer->count++];

	row->site = site;
	row->frames = frame_table_stack(&viewer->frames, config->namer,
					config->stacks, site->stack,
					site->function->name, &row->depth);
}

void viewer_init(struct viewer *viewer, const struct heap_export *export)
{
	struct heap *heap = export->process->heap;

	*viewer = (struct viewer){ .export = export };
	viewer->sites =
		xcalloc(heap_site_count(heap) + 1, sizeof(*viewer->sites));
	for (size_t i = 1; i <= heap_site_count(heap); i++)
		if (heap_export_is_shown(heap_site(heap, i)))
			add_site(viewer, heap_site(heap, i));
	viewer->timeline = heap_timeline(heap, export->now);
}

void viewer_fini(struct viewer *viewer)
{
	for (size_t i = 0; i < viewer->count; i++)
		free(viewer->sites[i].frames);
	free(viewer->sites);
	frame_table_fini(&viewer->frames);
}

struct heap_export_held viewer_held(const struct viewer *viewer,
				    const struct viewer_site *row,
				    unsigned intervals)
{
	const struct timeline_cells *cells = &row->site->times_of_blocks;
	struct heap_export_held held = { 0 };

	if (intervals >= viewer->timeline->count) {
		return heap_export_held(viewer->export, row->site);
	}
	for (uint32_t i = 0; i < cells->count; i++) {
		const struct timeline_cell *cell = &cells->list[i];

		if (cell->acquired >= intervals)
			break;
		if (cell->gone < intervals)
			continue;
		held.blocks += cell->blocks;
		held.bytes += cell->bytes;
	}
	return held;
}

struct heap_export_held viewer_held_by_all(const struct viewer *viewer,
					   unsigned intervals)
{
	struct heap_export_held sum = { 0 };

	for (size_t i = 0; i < viewer->count; i++) {
		struct heap_export_held held =
			viewer_held(viewer, &viewer->sites[i], intervals);

		sum.blocks += held.blocks;
		sum.bytes += held.bytes;
	}
	return sum;
}

unsigned viewer_peak(const struct viewer *viewer)
{
	unsigned count = viewer->timeline->count, best = count;
	uint64_t most = viewer_held_by_all(viewer, count).bytes;

	while (--count) {
		uint64_t bytes = viewer_held_by_all(viewer, count).bytes;

		if (bytes <= most)
			continue;
		most = bytes;
		best = count;
	}
	return best;
}

uint64_t viewer_time(const struct viewer *viewer, unsigned intervals)
{
	uint64_t since = intervals * timeline_interval(viewer->timeline);
	uint64_t all = viewer->export->now - viewer->export->process->start;

	return since < all ? since : all;
}

void viewer_add_title(const struct viewer *viewer, struct strbuf *out)
{
	const struct watched *process = viewer->export->process;
	const char *program = process->program ? process->program : "";

	if (names_differ(program, process->name))
		names_escape(out, process->name);
	else
		names_escape(out, *program ? file_base_name(program) : "?");
	strbuf_printf(out, " (%d)", (int)process->pid);
}

void viewer_put_json(json_t *root, struct strbuf *out)
{
	json_put(root, JSON_COMPACT, out);
	strbuf_putc(out, '\n');
	json_decref(root);
}
