/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/growth/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "report/flame/stack.h"
#include "report/flame/svg.h"
#include "report/flame/weighed.h"
#include "report/format/folded_stack.h"

/* ---- what they weigh ---- */

static bool counts_calls(const struct heap_export *export)
{
	return export->options->value == HEAP_INUSE_BLOCKS ||
	       export->options->value == HEAP_ALLOC_BLOCKS;
}

struct growth_kind_text growth_kind_text(const struct heap_export *export,
					 enum growth_kind kind)
{
	static const struct growth_kind_text texts[] = {
		[GROWTH_HEAP] = { "heap", "Heap Expansion", "bytes" },
		[GROWTH_MMAP] = { "mmap", "mmap()", "bytes" },
		[GROWTH_FAULTS] = { "faults", "Page Fault", "pages" },
	};
	struct growth_kind_text text = texts[kind];

	if (counts_calls(export))
		text.unit = kind == GROWTH_FAULTS ? "faults" : "calls";
	return text;
}

/* What one site weighs, as --value says; 0 if it has only given back. */
static uint64_t growth_weight(const struct heap_export *export,
			      const struct growth_site *site)
{
	const uint64_t unit = site->kind == GROWTH_FAULTS ? GROWTH_PAGE : 1;

	switch (export->options->value) {
	case HEAP_INUSE_BYTES:
		return (site->bytes - site->gone) / unit;
	case HEAP_ALLOC_BYTES:
		return site->bytes / unit;
	case HEAP_INUSE_BLOCKS:
	case HEAP_ALLOC_BLOCKS:
		return site->calls;
	case HEAP_PEAK_BYTES: /* check_growth() */
	case HEAP_PEAK_BLOCKS:
	case HEAP_TEMPORARY_BLOCKS:
	case HEAP_VALUES:
		break;
	}
	return 0;
}

bool growth_leaf_is_missing(const struct heap_export *export,
			    const struct growth_site *site)
{
	const struct frame_name *names;
	struct frame frame;
	size_t count;

	if (!site->function)
		return false;
	if (!stacks_frames(export->config->stacks, site->stack, &frame, 1))
		return true;
	count = namer_names(export->config->namer, &frame, &names);
	for (size_t i = 0; i < count; i++)
		if (names[i].function &&
		    !strcmp(names[i].function, site->function))
			return false;
	return true;
}

/* ---- folded stacks ---- */

static void growth_folded_make(const struct heap_export *export,
			       enum growth_kind kind, struct strbuf *out)
{
	const struct heap_report_config *config = export->config;
	const struct growth *growth = export->process->growth;

	for (size_t i = 1; i <= growth_site_count(growth); i++) {
		const struct growth_site *site = growth_site(growth, i);
		uint64_t weight = growth_weight(export, site);

		if (site->kind != kind || !weight)
			continue;
		folded_stack_add(config->namer, config->stacks, site->stack,
				 NULL, out);
		if (growth_leaf_is_missing(export, site))
			folded_stack_add_leaf(site->function, out);
		else
			out->length--;
		strbuf_printf(out, " %" PRIu64 "\n", weight);
	}
}

/* ---- pictures ---- */

static void plant(const void *context, struct flame_tree *tree,
		  const struct weighed *weighed)
{
	const struct heap_export *export = context;
	const struct growth_site *site = weighed->site;
	struct flame_path path = flame_path_begin(tree);

	flame_stack_add(&path, export->config->namer, export->config->stacks,
			site->stack, NULL);
	if (growth_leaf_is_missing(export, site))
		flame_path_add(&path, &(struct flame_place){ site->function, "",
							     NULL, 0 });
	(void)flame_path_weigh(&path, weighed->weight);
}

static struct flame_tree *tree_of(const struct heap_export *export,
				  enum growth_kind kind)
{
	const struct growth *growth = export->process->growth;
	struct weighed_list list = { 0 };

	for (size_t i = 1; i <= growth_site_count(growth); i++) {
		const struct growth_site *site = growth_site(growth, i);

		if (site->kind == kind)
			weighed_add(&list,
				    &(struct weighed){
					    .site = site,
					    .weight =
						    growth_weight(export, site),
					    .number = site->number,
				    });
	}
	return weighed_plant(&list, FLAME_NODES_MAX, plant, export);
}

static void growth_svg_make(const struct heap_export *export,
			    enum growth_kind kind, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf heading = { 0 };
	const struct growth_kind_text text = growth_kind_text(export, kind);
	struct flame_tree *tree = tree_of(export, kind);

	flame_svg_add_heading(text.title, export->process->program,
			      export->process->name, export->process->pid,
			      clock_wall(export->now), &heading);
	flame_svg_add(
		&(struct flame_picture){
			.tree = tree,
			.unit = text.unit,
			.heading = strbuf_text(&heading),
			.note = export->options->value == HEAP_INUSE_BYTES ?
					" that are still there" :
					NULL,
		},
		out);
	flame_tree_free(tree);
}

/* ---- files ---- */

/* "%k" is the kind; "%%k" isn't. */
static void add_path(const char *pattern, const char *word, struct strbuf *out)
{
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'k') {
			strbuf_puts(out, word);
			pattern++;
			continue;
		}
		strbuf_putc(out, *pattern);
		if (pattern[0] == '%' && pattern[1] == '%')
			strbuf_putc(out, *++pattern);
	}
}

struct growth_format {
	enum heap_file file;
	void (*make)(const struct heap_export *export, enum growth_kind kind,
		     struct strbuf *out);
};

static void write_one(const struct heap_export *export, enum growth_kind kind,
		      const struct growth_format *format,
		      const struct export_errors *errors)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	add_path(export->options->files[format->file],
		 growth_kind_text(export, kind).word, &pattern);
	format->make(export, kind, &out);
	heap_export_write_file(export, strbuf_text(&pattern), &out, errors);
}

void growth_export_write(const struct heap_export *export,
			 const struct export_errors *errors)
{
	static const struct growth_format formats[] = {
		{ HEAP_FILE_FOLDED, growth_folded_make },
		{ HEAP_FILE_SVG, growth_svg_make },
		{ HEAP_FILE_PPROF, growth_pprof_make },
	};

	for (enum growth_kind kind = 0; kind < GROWTH_KINDS; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
			if (export->options->files[formats[i].file] &&
			    growth_has(export->process->growth, kind))
				write_one(export, kind, &formats[i], errors);
}
