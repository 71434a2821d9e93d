/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "report/format/names.h"
#include "report/viewer/formats.h"
#include "report/viewer/viewer.h"

/*
 * The file of valgrind's Massif, for ms_print and massif-visualizer: a snapshot
 * for each interval, with the tree of what was held at the peak and at the end.
 * The tree has the allocators' callers first; what is below the threshold is
 * one node, as Massif's own are.
 */
#define THRESHOLD 100 /* one part in so many */

struct branch {
	uint32_t frame;
	uint64_t bytes;
	struct branch **children;
	size_t count, room;
};

static void free_branch(struct branch *branch)
{
	for (size_t i = 0; i < branch->count; i++)
		free_branch(branch->children[i]);
	free(branch->children);
	free(branch);
}

static struct branch *child_of(struct branch *branch, uint32_t frame)
{
	struct branch *child;

	for (size_t i = 0; i < branch->count; i++)
		if (branch->children[i]->frame == frame)
			return branch->children[i];
	branch->children = xgrow(branch->children, branch->count, &branch->room,
				 sizeof(*branch->children));
	child = xcalloc(1, sizeof(*child));
	child->frame = frame;
	branch->children[branch->count++] = child;
	return child;
}

/* The last frame is the allocator's, which the top stands for. */
static void add_site(struct branch *top, const struct viewer_site *row,
		     uint64_t bytes)
{
	struct branch *branch = top;

	branch->bytes += bytes;
	for (size_t i = row->depth - 1; i-- > 0;) {
		branch = child_of(branch, row->frames[i]);
		branch->bytes += bytes;
	}
}

static struct branch *tree_of(const struct viewer *viewer, unsigned intervals)
{
	struct branch *top = xcalloc(1, sizeof(*top));

	for (size_t i = 0; i < viewer->count; i++) {
		const struct viewer_site *row = &viewer->sites[i];
		uint64_t bytes = viewer_held(viewer, row, intervals).bytes;

		if (bytes)
			add_site(top, row, bytes);
	}
	return top;
}

static int by_bytes(const void *a, const void *b)
{
	const struct branch *left = *(struct branch *const *)a;
	const struct branch *right = *(struct branch *const *)b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return left->frame < right->frame ? -1 : left->frame > right->frame;
}

static void put_frame(const struct viewer *viewer, uint32_t frame,
		      struct strbuf *out)
{
	const struct frame_row *row = &viewer->frames.rows[frame];

	strbuf_printf(out, "%#" PRIx64 ": ", row->address);
	frame_row_add(row, out);
	strbuf_putc(out, '\n');
}

static void put_rest(const struct branch *branch, size_t first, unsigned depth,
		     struct strbuf *out)
{
	uint64_t bytes = 0;

	for (size_t i = first; i < branch->count; i++)
		bytes += branch->children[i]->bytes;
	strbuf_printf(out,
		      "%*sn0: %" PRIu64 " in %zu place%s, all below massif's "
		      "threshold (%.2f%%)\n",
		      (int)depth, "", bytes, branch->count - first,
		      branch->count - first == 1 ? "" : "s", 100. / THRESHOLD);
}

/* Recursion as deep as the stacks are: at most UNWIND_DEPTH_MAX. */
static void put_branch(const struct viewer *viewer, struct branch *branch,
		       uint64_t total, unsigned depth, struct strbuf *out)
{
	size_t shown = 0;

	qsort(branch->children, branch->count, sizeof(*branch->children),
	      by_bytes);
	while (shown < branch->count &&
	       branch->children[shown]->bytes >= total / THRESHOLD)
		shown++;
	strbuf_printf(out, "%*sn%zu: %" PRIu64 " ", (int)depth, "",
		      shown + (shown < branch->count), branch->bytes);
	if (depth)
		put_frame(viewer, branch->frame, out);
	else
		strbuf_puts(out, "(heap allocation functions) malloc/new/new[],"
				 " --alloc-fns, etc.\n");
	for (size_t i = 0; i < shown; i++)
		put_branch(viewer, branch->children[i], total, depth + 1, out);
	if (shown < branch->count)
		put_rest(branch, shown, depth + 1, out);
}

static void put_snapshot(const struct viewer *viewer, unsigned intervals,
			 const char *tree, struct strbuf *out)
{
	uint64_t bytes = viewer_held_by_all(viewer, intervals).bytes;
	struct branch *top;

	strbuf_printf(out,
		      "#-----------\nsnapshot=%u\n#-----------\n"
		      "time=%" PRIu64 "\nmem_heap_B=%" PRIu64
		      "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		      intervals, viewer_time(viewer, intervals) / 1000000,
		      bytes, tree ? tree : "empty");
	if (!tree)
		return;
	top = tree_of(viewer, intervals);
	put_branch(viewer, top, bytes, 0, out);
	free_branch(top);
}

static void put_head(const struct viewer *viewer, struct strbuf *out)
{
	strbuf_puts(out,
		    "desc: made by " PACKAGE_STRING ", from a process that "
		    "ran\ncmd: ");
	viewer_add_title(viewer, out);
	strbuf_puts(out, "\ntime_unit: ms\n");
}

void massif_make(const struct heap_export *export, struct strbuf *out)
{
	struct viewer viewer;
	unsigned peak, last;

	viewer_init(&viewer, export);
	peak = viewer_peak(&viewer);
	last = viewer.timeline->count;
	put_head(&viewer, out);
	for (unsigned i = 0; i <= last; i++)
		put_snapshot(&viewer, i,
			     i == peak ? "peak" :
			     i == last ? "detailed" :
					 NULL,
			     out);
	viewer_fini(&viewer);
}
