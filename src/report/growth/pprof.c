/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "growth/caller.h"
#include "report/growth/export.h"
#include "report/growth/rows.h"
#include "report/profile/stacks.h"

/*
 * What makes a process grow, as a profile for pprof, and for heap diff, which
 * knows it by its types: calls (or faults), bytes by which it has grown, and
 * those of them that are still there. The type of its period is the kind.
 */

static void put_types(struct profile_writer *writer)
{
	profile_writer_put_type(writer, "calls", "count");
	profile_writer_put_type(writer, "grown_space", "bytes");
	profile_writer_put_type(writer, "kept_space", "bytes");
}

static void put_head(const struct heap_export *export, enum growth_kind kind,
		     struct profile_writer *writer)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	const struct watched *process = export->process;
	const char *word = growth_kind_text(export, kind).word;

	period.type = profile_writer_text(writer, word);
	period.unit = profile_writer_text(writer, "bytes");
	piece.period_type = &period;
	piece.period = 1;
	piece.time_nanos = profile_number(clock_wall(export->now));
	piece.duration_nanos = profile_number(export->now - process->start);
	piece.default_sample_type = profile_writer_text(writer, "kept_space");
	profile_writer_put(writer, &piece);
	strbuf_printf(&text, "%s: growth (%s) of process %d, %s",
		      PACKAGE_STRING, word, (int)process->pid,
		      process->program ? process->program : "");
	profile_writer_put_comment(writer, strbuf_text(&text));
}

static void put_site(const struct heap_export *export,
		     struct profile_stacks *stacks,
		     const struct growth_site *site)
{
	int64_t values[] = { profile_number(site->calls),
			     profile_number(site->bytes),
			     profile_number(site->bytes - site->gone) };
	struct profile_labels labels = { 0 };
	const struct frame_name *caller;
	struct frame frame;

	caller = growth_caller(export->config->stacks, export->config->namer,
			       site->stack, &frame);
	if (caller && caller->function)
		profile_labels_add_text(&labels, stacks->writer, "caller",
					caller->function);
	if (growth_leaf_is_missing(export, site))
		profile_labels_add_text(&labels, stacks->writer, "allocator",
					site->function);
	profile_stacks_put(stacks, site->stack, NULL, values,
			   ARRAY_SIZE(values), &labels);
}

#define for_each_site(growth, wanted, i, site)                                 \
	for ((i) = 1; (i) <= growth_site_count(growth); (i)++)                 \
		if (((site) = growth_site((growth), (i)))->kind == (wanted) && \
		    (site)->calls)

void growth_pprof_make(const struct heap_export *export, enum growth_kind kind,
		       struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	const struct growth *growth = export->process->growth;
	struct profile_writer writer;
	struct profile_stacks stacks = { .stacks = export->config->stacks,
					 .namer = export->config->namer,
					 .writer = &writer };
	const struct growth_site *site;
	size_t i;

	profile_writer_init(&writer, &plain);
	put_types(&writer);
	put_head(export, kind, &writer);
	for_each_site(growth, kind, i, site)
		profile_stacks_add(&stacks, site->stack, NULL);
	profile_stacks_put_places(&stacks, export->process->program);
	for_each_site(growth, kind, i, site)
		put_site(export, &stacks, site);
	profile_stacks_fini(&stacks);
	profile_writer_fini(&writer);
	gzip_add(out, plain.text, plain.length);
}
