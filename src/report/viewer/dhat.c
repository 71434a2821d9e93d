/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "report/format/json_writer.h"
#include "report/viewer/formats.h"
#include "report/viewer/viewer.h"

/*
 * The file of valgrind's DHAT, version 2, for its dh_view.html
 * (dhat/docs/dh-manual.html and the viewer's own checks). Times are
 * microseconds. What was accessed isn't known (bkacc), lifetimes are (bklt).
 */
#define UNIT 1000

/* Blocks that live shorter on average are counted as short-lived: 1 ms. */
#define SHORT_LIVED 1000

struct dhat {
	struct viewer viewer;
	double *ages; /* of blocks that are held, in sum; by site number */
	unsigned peak;
};

static void sum_ages(struct dhat *dhat)
{
	const struct heap_export *export = dhat->viewer.export;
	const struct heap *heap = export->process->heap;
	struct heap_walk walk = { 0 };
	struct heap_block block;

	dhat->ages = xcalloc(heap_site_count(heap) + 1, sizeof(*dhat->ages));
	while (heap_next_block(heap, &walk, &block))
		if (export->now > block.birth)
			dhat->ages[block.site->number] +=
				(double)(export->now - block.birth) *
				(double)block.weight.count;
}

/* Frame 0 is the root; a stack begins with its innermost frame. */
static json_t *stack_of(const struct viewer_site *row)
{
	json_t *array = json_array();

	for (size_t i = row->depth; i-- > 0;)
		json_array_append_new(array, json_integer(row->frames[i] + 1));
	return array;
}

static json_t *point_of(const struct dhat *dhat, const struct viewer_site *row)
{
	const struct viewer *viewer = &dhat->viewer;
	const struct site *site = row->site;
	struct heap_export_held peak = viewer_held(viewer, row, dhat->peak);
	struct heap_export_held end =
		viewer_held(viewer, row, viewer->timeline->count);
	json_t *point = json_object();

	json_set_number(point, "tb", site->alloc_bytes);
	json_set_number(point, "tbk", site->alloc_blocks);
	json_set_number(point, "tl",
			(site->lifetime_ns + dhat->ages[site->number]) / UNIT);
	json_set_number(point, "mb", site->peak_bytes);
	json_set_number(point, "mbk", site->peak_blocks);
	json_set_number(point, "gb", peak.bytes);
	json_set_number(point, "gbk", peak.blocks);
	json_set_number(point, "eb", end.bytes);
	json_set_number(point, "ebk", end.blocks);
	json_object_set_new(point, "fs", stack_of(row));
	return point;
}

static json_t *points_of(const struct dhat *dhat)
{
	json_t *array = json_array();

	for (size_t i = 0; i < dhat->viewer.count; i++)
		json_array_append_new(array,
				      point_of(dhat, &dhat->viewer.sites[i]));
	return array;
}

static json_t *frames_of(const struct frame_table *table)
{
	json_t *array = json_array();

	json_array_append_new(array, json_string("[root]"));
	for (size_t i = 0; i < table->count; i++) {
		const struct frame_row *row = &table->rows[i];
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };

		if (row->address)
			strbuf_printf(&text, "%#" PRIx64 ": ", row->address);
		frame_row_add(row, &text);
		json_array_append_new(array, json_string(strbuf_text(&text)));
	}
	return array;
}

static json_t *root_of(const struct dhat *dhat)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	const struct viewer *viewer = &dhat->viewer;
	json_t *root = json_object();

	viewer_add_title(viewer, &title);
	json_set_number(root, "dhatFileVersion", 2);
	json_object_set_new(root, "mode", json_string("heap"));
	json_object_set_new(root, "verb", json_string("Allocated"));
	json_object_set_new(root, "bklt", json_true());
	json_object_set_new(root, "bkacc", json_false());
	json_object_set_new(root, "tu", json_string("µs"));
	json_object_set_new(root, "Mtu", json_string("s"));
	json_set_number(root, "tuth", SHORT_LIVED);
	json_object_set_new(root, "cmd", json_string(strbuf_text(&title)));
	json_set_number(root, "pid", viewer->export->process->pid);
	json_set_number(root, "tg", viewer_time(viewer, dhat->peak) / UNIT);
	json_set_number(root, "te",
			viewer_time(viewer, viewer->timeline->count) / UNIT);
	json_object_set_new(root, "pps", points_of(dhat));
	json_object_set_new(root, "ftbl", frames_of(&viewer->frames));
	return root;
}

void dhat_make(const struct heap_export *export, struct strbuf *out)
{
	struct dhat dhat;

	viewer_init(&dhat.viewer, export);
	sum_ages(&dhat);
	dhat.peak = viewer_peak(&dhat.viewer);
	viewer_put_json(root_of(&dhat), out);
	free(dhat.ages);
	viewer_fini(&dhat.viewer);
}
