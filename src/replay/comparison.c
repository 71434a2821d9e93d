/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "replay/figures.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"

static struct spread figure_spread(const struct comparison *comparison,
				   const struct candidate *candidate,
				   const struct figure *figure)
{
	double *values CLEANUP(xfree_cleanup) =
		xcalloc(comparison->runs, sizeof(*values));

	for (unsigned i = 0; i < comparison->runs; i++)
		values[i] =
			figure->of(&candidate->results[i], &comparison->counts);
	return spread_of(values, comparison->runs);
}

static struct spread time_spread(const struct comparison *comparison,
				 const struct candidate *candidate,
				 enum replay_kind kind,
				 const struct time_figure *figure)
{
	double *values CLEANUP(xfree_cleanup) =
		xcalloc(comparison->runs, sizeof(*values));

	for (unsigned i = 0; i < comparison->runs; i++)
		values[i] = figure->of(&candidate->results[i].times[kind]);
	return spread_of(values, comparison->runs);
}

/* ---- text ---- */

#define LABEL_WIDTH  22
#define COLUMN_WIDTH 27

static void add_number(struct strbuf *out, double number)
{
	strbuf_printf(out, number < 100 ? "%.1f" : "%.0f", number);
}

static void add_value(struct strbuf *out, double value, enum figure_unit unit)
{
	switch (unit) {
	case UNIT_TIME:
		add_number(out, value / 1e6);
		strbuf_puts(out, " ms");
		break;
	case UNIT_NS:
		add_number(out, value);
		strbuf_puts(out, " ns");
		break;
	case UNIT_BYTES:
		add_number(out, value / (1 << 20));
		strbuf_puts(out, " MiB");
		break;
	case UNIT_COUNT:
		strbuf_add_grouped(out, value + 0.5);
		break;
	case UNIT_RATIO:
		strbuf_printf(out, "%.2f", value);
		break;
	}
}

static void add_bound(struct strbuf *out, double value, enum figure_unit unit)
{
	switch (unit) {
	case UNIT_TIME:
		add_number(out, value / 1e6);
		break;
	case UNIT_BYTES:
		add_number(out, value / (1 << 20));
		break;
	case UNIT_NS:
		add_number(out, value);
		break;
	case UNIT_COUNT:
	case UNIT_RATIO:
		add_value(out, value, unit);
		break;
	}
}

/* The median, and from where to where the runs go. */
static void add_cell(struct strbuf *out, const struct spread *spread,
		     enum figure_unit unit)
{
	CLEANUP(strbuf_fini) struct strbuf cell = { 0 };

	add_value(&cell, spread->median, unit);
	if (spread->least < spread->most) {
		strbuf_puts(&cell, " [");
		add_bound(&cell, spread->least, unit);
		strbuf_puts(&cell, "..");
		add_bound(&cell, spread->most, unit);
		strbuf_putc(&cell, ']');
	}
	strbuf_printf(out, "  %-*s", COLUMN_WIDTH, strbuf_text(&cell));
}

static void end_line(struct strbuf *out)
{
	while (out->length && out->text[out->length - 1] == ' ')
		out->text[--out->length] = 0;
	strbuf_putc(out, '\n');
}

static void add_figure(const struct comparison *comparison,
		       const struct figure *figure, struct strbuf *out)
{
	strbuf_printf(out, "%-*s", LABEL_WIDTH, figure->text);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct spread spread =
			figure_spread(comparison, &comparison->candidates[i],
				      figure);

		add_cell(out, &spread, figure->unit);
	}
	end_line(out);
}

static void add_times(const struct comparison *comparison,
		      enum replay_kind kind, const struct time_figure *figure,
		      struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf label = { 0 };

	strbuf_printf(&label, "%s %s", replay_function_names[kind],
		      figure->text);
	strbuf_printf(out, "%-*s", LABEL_WIDTH, strbuf_text(&label));
	for (size_t i = 0; i < comparison->count; i++) {
		const struct spread spread =
			time_spread(comparison, &comparison->candidates[i],
				    kind, figure);

		add_cell(out, &spread, UNIT_NS);
	}
	end_line(out);
}

static void add_count(struct strbuf *out, const char *text, uint64_t count)
{
	if (!count)
		return;
	strbuf_puts(out, "  ");
	strbuf_add_grouped(out, count);
	strbuf_printf(out, " %s\n", text);
}

static void add_head(const struct comparison *comparison, struct strbuf *out)
{
	const struct plan_counts *counts = &comparison->counts;

	names_escape(out, comparison->recording);
	strbuf_printf(out, ", process %d: ", (int)counts->pid);
	strbuf_add_grouped(out, counts->operations);
	strbuf_printf(out, " operations of %" PRIu64 " thread%s; ",
		      counts->threads, counts->threads == 1 ? "" : "s");
	add_value(out, counts->peak, UNIT_BYTES);
	strbuf_puts(out, " were asked for and live at most (ideal), ");
	add_value(out, counts->final, UNIT_BYTES);
	strbuf_puts(out, " at the end; recorded in ");
	add_value(out, counts->span, UNIT_TIME);
	strbuf_putc(out, '\n');
	add_count(out, "releases skipped: of blocks from before the recording",
		  counts->skipped);
	add_count(out, "resizes of such blocks acquire new ones",
		  counts->adopted);
	add_count(out, "calls left out that failed or never returned",
		  counts->failed);
	add_count(out, "releases added that the recording has missed",
		  counts->unseen);
	add_count(out, "blocks given back or resized by another thread",
		  counts->handed);
	add_count(out, "other processes of the recording are left out",
		  counts->others);
	strbuf_printf(out, "Medians of %u run%s", comparison->runs,
		      comparison->runs == 1 ? "" : "s");
	strbuf_printf(out, "%s; %s%s\n\n",
		      comparison->runs == 1 ? "" : " [least..most]",
		      comparison->manner.touch ?
			      "each page of a block is touched" :
			      "blocks aren't touched",
		      comparison->manner.paced ?
			      "; no call is made before its time" :
			      "");
}

void comparison_print(const struct comparison *comparison, struct strbuf *out)
{
	add_head(comparison, out);
	strbuf_printf(out, "%-*s", LABEL_WIDTH, "");
	for (size_t i = 0; i < comparison->count; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		names_escape(&name, comparison->candidates[i].name);
		strbuf_printf(out, "  %-*s", COLUMN_WIDTH, strbuf_text(&name));
	}
	end_line(out);
	for (size_t i = 0; i < figure_count; i++)
		add_figure(comparison, &figures[i], out);
	for (unsigned kind = 0; kind < REPLAY_KINDS; kind++)
		for (size_t i = 0;
		     comparison->counts.ops[kind] && i < time_figure_count; i++)
			add_times(comparison, kind, &time_figures[i], out);
}

/* ---- JSON ---- */

static json_t *spread_json(const struct spread *spread)
{
	return json_pack("{s:f, s:f, s:f}", "median", spread->median, "least",
			 spread->least, "most", spread->most);
}

static json_t *functions_json(const struct comparison *comparison,
			      const struct candidate *candidate)
{
	json_t *functions = json_object();

	for (unsigned kind = 0; kind < REPLAY_KINDS; kind++) {
		json_t *function = json_object();

		json_set_number(function, "operations",
				comparison->counts.ops[kind]);
		for (size_t i = 0; i < time_figure_count; i++) {
			const struct spread spread =
				time_spread(comparison, candidate, kind,
					    &time_figures[i]);

			json_object_set_new(function, time_figures[i].key,
					    spread_json(&spread));
		}
		json_object_set_new(functions, replay_function_names[kind],
				    function);
	}
	return functions;
}

static json_t *candidate_json(const struct comparison *comparison,
			      const struct candidate *candidate)
{
	json_t *object = json_object();

	json_object_set_new(object, "name",
			    json_text(candidate->name,
				      strlen(candidate->name)));
	if (*candidate->file)
		json_object_set_new(object, "file",
				    json_text(candidate->file,
					      strlen(candidate->file)));
	for (size_t i = 0; i < figure_count; i++) {
		const struct spread spread =
			figure_spread(comparison, candidate, &figures[i]);

		json_object_set_new(object, figures[i].key,
				    spread_json(&spread));
	}
	json_object_set_new(object, "functions",
			    functions_json(comparison, candidate));
	return object;
}

json_t *comparison_json(const struct comparison *comparison)
{
	const struct plan_counts *counts = &comparison->counts;
	json_t *root = json_object(), *allocators = json_array();

	json_object_set_new(root, "recording",
			    json_text(comparison->recording,
				      strlen(comparison->recording)));
	json_set_number(root, "pid", counts->pid);
	json_set_number(root, "runs", comparison->runs);
	json_object_set_new(root, "touch",
			    json_string(comparison->manner.touch ? "all" :
								   "none"));
	json_object_set_new(root, "pace",
			    json_boolean(comparison->manner.paced));
	json_set_number(root, "recorded_ns", counts->span);
	json_set_number(root, "operations", counts->operations);
	json_set_number(root, "threads", counts->threads);
	json_set_number(root, "skipped", counts->skipped);
	json_set_number(root, "adopted", counts->adopted);
	json_set_number(root, "failed", counts->failed);
	json_set_number(root, "added", counts->unseen);
	json_set_number(root, "handed_over", counts->handed);
	json_set_number(root, "other_processes", counts->others);
	json_set_number(root, "ideal_peak_bytes", counts->peak);
	json_set_number(root, "ideal_final_bytes", counts->final);
	for (size_t i = 0; i < comparison->count; i++)
		json_array_append_new(
			allocators,
			candidate_json(comparison, &comparison->candidates[i]));
	json_object_set_new(root, "allocators", allocators);
	return root;
}
