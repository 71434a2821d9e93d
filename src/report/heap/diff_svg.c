/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/flame/svg.h"
#include "report/flame/weighed.h"
#include "report/format/names.h"
#include "report/format/xml.h"
#include "report/heap/diff.h"

#define PATH_MAX_SHOWN 50

static void add_frame(struct flame_path *path,
		      const struct profile_frame *frame)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	names_escape(&name, *frame->function ? frame->function : "?");
	flame_path_add(path,
		       &(struct flame_place){ strbuf_text(&name), "",
					      *frame->file ? frame->file : NULL,
					      frame->line });
}

static void add_allocator(const struct heap_diff *diff, struct flame_path *path,
			  const struct profile_sample *sample)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (path->full)
		return;
	heap_diff_add_allocator(diff, sample, &name);
	if (!name.length)
		return;
	flame_path_add(path, &(struct flame_place){ strbuf_text(&name), "",
						    NULL, 0 });
}

static void plant(const void *context, struct flame_tree *tree,
		  const struct weighed *weighed)
{
	const struct heap_diff *diff = context;
	const struct diff_site *site = weighed->site;
	const struct profile_sample sample =
		profile_sample(site->profile, site->sample);
	struct flame_path path = flame_path_begin(tree);

	for (size_t i = sample.frame_count; i-- && !path.full;)
		add_frame(&path, &sample.frames[i]);
	add_allocator(diff, &path, &sample);
	flame_path_compare(&path, heap_diff_weight(diff, &site->before),
			   heap_diff_weight(diff, &site->now));
}

/* As wide as the larger side. */
static uint64_t width(const struct heap_diff *diff,
		      const struct diff_site *site)
{
	const uint64_t before = heap_diff_weight(diff, &site->before);
	const uint64_t now = heap_diff_weight(diff, &site->now);

	return before > now ? before : now;
}

static struct flame_tree *make_tree(struct heap_diff *diff)
{
	struct weighed_list list = { 0 };
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next)
		weighed_add(&list, &(struct weighed){
					   .site = site,
					   .weight = width(diff, site),
					   .number = list.count,
				   });
	return weighed_plant(&list, FLAME_NODES_MAX, plant, diff);
}

static const char *subject(const struct heap_diff *diff)
{
	if (!diff->growth)
		return heap_export_value_text(diff->value)->title;
	return !strcmp(diff->growth, "heap")   ? "Heap Expansion" :
	       !strcmp(diff->growth, "mmap")   ? "mmap()" :
	       !strcmp(diff->growth, "faults") ? "Page Fault" :
						 "Growth";
}

static void add_heading(const struct heap_diff *diff, const char *old,
			const char *new, struct strbuf *out)
{
	strbuf_printf(out, "%s Flame Graph, differences: ", subject(diff));
	xml_add(out, old, PATH_MAX_SHOWN);
	strbuf_puts(out, " and then ");
	xml_add(out, new, PATH_MAX_SHOWN);
}

static void add_unit(const struct heap_diff *diff, struct strbuf *out)
{
	if (heap_diff_is_in_bytes(diff))
		strbuf_puts(out, "bytes");
	else
		strbuf_printf(out, "%ss", heap_diff_counted(diff));
}

void heap_diff_draw(struct heap_diff *diff, const char *old, const char *new,
		    struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	CLEANUP(strbuf_fini) struct strbuf unit = { 0 };
	struct flame_tree *tree = make_tree(diff);

	add_heading(diff, old, new, &heading);
	add_unit(diff, &unit);
	flame_svg_add(
		&(struct flame_picture){
			.tree = tree,
			.unit = strbuf_text(&unit),
			.heading = strbuf_text(&heading),
			.difference = true,
		},
		out);
	flame_tree_free(tree);
}
