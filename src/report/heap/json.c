/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "heap/look.h"
#include "heap/slab.h"
#include "report/format/json_put.h"
#include "report/format/json_stack.h"
#include "report/format/json_writer.h"
#include "report/growth/json.h"
#include "report/heap/export.h"
#include "report/heap/json.h"
#include "report/heap/rows.h"
#include "report/heap/sizes.h"
#include "report/heap/suppressions.h"

/* One object with all that the report has. Times are in nanoseconds. */

/* ---- the process ---- */

static json_t *process_of(const struct heap_export *export)
{
	static const char *const states[] = {
		[WATCHED_RUNNING] = "running",
		[WATCHED_EXITED] = "exited",
		[WATCHED_REPLACED] = "replaced",
		[WATCHED_LEFT] = "left",
	};
	const struct watched *process = export->process;
	json_t *object = json_object();

	json_set_number(object, "pid", process->pid);
	if (process->own_pid)
		json_set_number(object, "own_pid", process->own_pid);
	json_set_text(object, "program", process->program);
	json_set_text(object, "name", process->name);
	json_set_text(object, "state", states[process->state]);
	if (process->state == WATCHED_EXITED)
		json_set_number(object, "wait_status", process->status);
	json_object_set_new(object, "from_start",
			    json_boolean(process->complete));
	json_set_number(object, "watched", export->now - process->start);
	json_set_number(object, "calls", process->calls);
	return object;
}

/* ---- estimates ---- */

static void set_range(json_t *object, const char *key,
		      const struct estimate_range *range)
{
	json_t *array = json_array();

	json_array_append_new(array, json_integer(range->low));
	json_array_append_new(array, json_integer(range->high));
	json_object_set_new(object, key, array);
}

/* Not where every block was kept. */
static void set_estimates(json_t *object, const struct estimates *estimates)
{
	const struct estimate_ranges ranges = estimates_ranges(estimates);
	json_t *intervals = json_object();

	if (!estimates->samples) {
		json_decref(intervals);
		return;
	}
	json_set_number(object, "samples", estimates->samples);
	set_range(intervals, "bytes", &ranges.bytes);
	set_range(intervals, "alloc_bytes", &ranges.alloc_bytes);
	json_object_set_new(object, "interval_95", intervals);
}

/* ---- totals ---- */

static json_t *family_object(const struct family *family,
			     const struct heap_total *total)
{
	json_t *object = json_object();
	const struct {
		const char *key;
		uint64_t number;
	} numbers[] = {
		{ "blocks", total->blocks },
		{ "bytes", total->bytes },
		{ "alloc_blocks", total->alloc_blocks },
		{ "alloc_bytes", total->alloc_bytes },
		{ "freed_blocks", total->freed_blocks },
		{ "freed_bytes", total->freed_bytes },
		{ "peak_blocks", total->peak_blocks },
		{ "peak_bytes", total->peak_bytes },
		{ "at_peak_blocks", total->at_peak_blocks },
		{ "temporary_blocks", total->temporary_blocks },
		{ "failed", total->failed },
		{ "null_frees", total->null_releases },
		{ "unseen_frees", total->unseen_frees },
		{ "double_frees", total->double_frees },
		{ "doubtful_frees", total->doubtful_frees },
		{ "unknown_frees", total->unknown_frees },
		{ "unknown_resizes", total->unknown_resizes },
		{ "invalid_frees", total->invalid_frees },
		{ "mismatches", total->mismatches },
		{ "size_mismatches", total->size_mismatches },
		{ "reused", total->reused },
		{ "replaced", total->replaced },
		{ "in_flight", total->in_flight },
		{ "dropped", total->dropped },
		{ "merged", total->merged },
	};

	json_set_text(object, "name", family->name);
	json_set_text(object, "unit", family->unit);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		json_set_number(object, numbers[i].key, numbers[i].number);
	return object;
}

static void set_sums(json_t *object, const struct heap_total *sums)
{
	json_set_number(object, "blocks", sums->blocks);
	json_set_number(object, "bytes", sums->bytes);
	json_set_number(object, "alloc_blocks", sums->alloc_blocks);
	json_set_number(object, "alloc_bytes", sums->alloc_bytes);
	json_set_number(object, "freed_blocks", sums->freed_blocks);
	json_set_number(object, "freed_bytes", sums->freed_bytes);
}

static json_t *sum_object(const struct heap_sum *sum)
{
	json_t *object = json_object();

	json_set_number(object, "sites", sum->sites);
	json_set_number(object, "blocks", sum->blocks);
	json_set_number(object, "bytes", sum->bytes);
	return object;
}

static json_t *suppressed_of(const struct heap_rows *rows,
			     const struct suppressions *all)
{
	json_t *object = sum_object(&rows->suppressed[0]);
	json_t *lines = json_array();

	for (size_t i = 1; i <= suppressions_count(all); i++) {
		json_t *line = sum_object(&rows->suppressed[i]);

		json_set_text(line, "suppression", suppressions_text(all, i));
		json_array_append_new(lines, line);
	}
	json_object_set_new(object, "suppressions", lines);
	return object;
}

static json_t *verdicts_of(const struct heap_rows *rows)
{
	json_t *object = json_object();

	for (int level = VERDICT_LIKELY; level >= VERDICT_NOT; level--)
		json_object_set_new(object, verdict_name(level),
				    sum_object(&rows->levels[level]));
	return object;
}

/* Sums are those of families that have bytes: a descriptor is no block. */
static json_t *summary_of(const struct heap_export *export,
			  const struct heap_rows *rows)
{
	const struct heap *heap = export->process->heap;
	json_t *object = json_object(), *families = json_array();
	struct heap_total sums = { 0 };

	for (size_t i = 0; i < heap_family_count(heap); i++) {
		const struct family *family = heap_family(heap, i);
		const struct heap_total *total = heap_total(heap, family);

		const struct estimates estimates =
			estimates_of_family(heap, family, rows->survey);
		json_t *told = family_object(family, total);

		set_estimates(told, &estimates);
		json_array_append_new(families, told);
		if (!family->has_size)
			continue;
		sums.blocks += total->blocks;
		sums.bytes += total->bytes;
		sums.alloc_blocks += total->alloc_blocks;
		sums.alloc_bytes += total->alloc_bytes;
		sums.freed_blocks += total->freed_blocks;
		sums.freed_bytes += total->freed_bytes;
	}
	set_sums(object, &sums);
	json_object_set_new(object, "families", families);
	json_object_set_new(object, "verdicts", verdicts_of(rows));
	if (rows->suppressed)
		json_object_set_new(
			object, "suppressed",
			suppressed_of(rows, export->config->suppressions));
	return object;
}

/* ---- sites ---- */

static json_t *distribution(const struct log_histogram *histogram)
{
	json_t *object = json_object();

	json_set_number(object, "count", histogram->count);
	json_set_number(object, "median",
			log_histogram_quantile(histogram, 500));
	json_set_number(object, "p99", log_histogram_quantile(histogram, 990));
	json_set_number(object, "max", histogram->max);
	return object;
}

static void set_distributions(json_t *object, const struct heap_row *row)
{
	const struct {
		const char *key;
		const struct log_histogram *histogram;
	} all[] = {
		{ "ages", row->ages },
		{ "lifetimes", row->lifetimes },
		{ "times", row->times },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].histogram->count)
			json_object_set_new(object, all[i].key,
					    distribution(all[i].histogram));
	if (row->freed_blocks)
		json_set_number(object, "lifetime_mean",
				row->lifetime_ns / row->freed_blocks);
}

static json_t *sizes_array(const struct log_histogram *sizes)
{
	struct size_row rows[SIZE_CLASSES];
	size_t count = size_rows(sizes, rows);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_object();

		json_set_number(object, "up_to", rows[i].up_to);
		json_set_number(object, "blocks", rows[i].blocks);
		json_object_set_new(object, "percent_up_to",
				    json_real(rows[i].percent));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *all_sizes(const struct heap *heap)
{
	struct log_histogram sizes = sizes_of_all(heap);
	json_t *array = sizes_array(&sizes);

	log_histogram_fini(&sizes);
	return array;
}

static void set_verdict(json_t *object, const struct heap_row *row)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	json_set_text(object, "verdict", verdict_name(row->verdict->level));
	verdict_explain(row->verdict, row->site, &why);
	json_set_text(object, "evidence", strbuf_text(&why));
}

static void set_slab(json_t *object, const struct heap_export *export,
		     const struct site *site)
{
	const struct slab *slab =
		slab_of(export->config->stacks, export->config->namer, site);

	if (!slab)
		return;
	json_object_set_new(object, "slab", json_object());
	object = json_object_get(object, "slab");
	json_set_text(object, "what", slab->what);
	json_set_text(object, "inside", slab->inside);
}

static json_t *reach_numbers(const struct site_reach *reach)
{
	json_t *object = json_object();

	json_set_number(object, "blocks", reach->blocks);
	json_set_number(object, "bytes", reach->bytes);
	json_set_number(object, "lost_blocks", reach->lost_blocks);
	json_set_number(object, "lost_bytes", reach->lost_bytes);
	if (reach->listed_blocks)
		json_set_number(object, "garbage_blocks", reach->listed_blocks);
	if (reach->owner) {
		json_set_text(object, "owner", reach->owner);
		json_set_number(object, "own_bytes", reach->own_bytes);
	}
	return object;
}

static json_t *reach_of(const struct heap_reach *reach)
{
	json_t *object;

	if (!reach)
		return json_null();
	if (reach->why_not) {
		object = json_object();
		json_set_text(object, "unknown", reach->why_not);
		return object;
	}
	object = reach_numbers(&reach->all);
	json_set_number(object, "gone", reach->gone);
	json_set_number(object, "pause", reach->pause_ns);
	json_object_set_new(object, "copied", json_boolean(reach->copied));
	return object;
}

static json_t *types_array(const struct site_look *look)
{
	json_t *array = json_array();

	for (size_t i = 0; i < look->type_count; i++) {
		const struct look_type *type = &look->types[i];
		json_t *object = json_object();

		json_set_text(object, "type", type->name);
		json_set_number(object, "blocks", type->blocks);
		json_set_number(object, "bytes", type->bytes);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *pages_object(const struct site_look *look)
{
	json_t *object = json_object();

	json_set_number(object, "bytes", look->bytes);
	json_set_number(object, "resident", look->resident);
	if (look->huge_known)
		json_set_number(object, "huge", look->huge);
	json_set_number(object, "swapped", look->swapped);
	return object;
}

static void set_look(json_t *object, const struct site_look *look)
{
	if (look && look->type_count)
		json_object_set_new(object, "types", types_array(look));
	if (look && look->bytes)
		json_object_set_new(object, "pages", pages_object(look));
}

static void set_untyped(json_t *root, const struct heap_look *look)
{
	const char *why = heap_look_why_untyped(look);

	if (why)
		json_set_text(root, "types_unknown", why);
}

static json_t *site_object(const struct heap_export *export,
			   const struct heap_rows *rows,
			   const struct heap_row *row)
{
	const struct estimates estimates = heap_row_estimates(rows, row);
	const struct heap_report_config *config = export->config;
	const struct site *site = row->site;
	const struct heap_export_held held = heap_export_held(export, site);
	const struct site_amount at_peak =
		heap_at_peak(export->process->heap, site);
	json_t *object = json_object();

	json_set_number(object, "number", site->number);
	json_set_text(object, "allocator", site->function->name);
	json_set_text(object, "family", site->function->family->name);
	json_set_text(object, "library", site->library);
	json_set_text(object, "component",
		      heap_report_component(config, site->component));
	set_sums(object, &(struct heap_total){
				 .blocks = held.blocks,
				 .bytes = held.bytes,
				 .alloc_blocks = site->alloc_blocks,
				 .alloc_bytes = site->alloc_bytes,
				 .freed_blocks = site->freed_blocks,
				 .freed_bytes = site->freed_bytes,
			 });
	set_estimates(object, &estimates);
	json_set_number(object, "peak_blocks", site->peak_blocks);
	json_set_number(object, "peak_bytes", site->peak_bytes);
	json_set_number(object, "at_peak_blocks", at_peak.blocks);
	json_set_number(object, "at_peak_bytes", at_peak.bytes);
	json_set_number(object, "temporary_blocks", site->temporary.blocks);
	json_set_number(object, "failed", site->failed);
	json_set_number(object, "oldest", row->oldest);
	set_verdict(object, row);
	set_slab(object, export, site);
	set_look(object, heap_site_look(export->process->heap, site));
	if (row->verdict->reach)
		json_object_set_new(object, "reach",
				    reach_numbers(row->verdict->reach));
	set_distributions(object, row);
	if (config->options->histogram)
		json_object_set_new(object, "sizes", sizes_array(row->sizes));
	json_object_set_new(object, "stack",
			    json_stack(config->stacks, config->namer,
				       site->stack, site->function->name));
	json_object_set_new(object, "stack_is_whole",
			    json_boolean(
				    stacks_end(config->stacks, site->stack) ==
				    STACK_COMPLETE));
	return object;
}

/* ---- the whole ---- */

/* The last one, and which were before. */
static void add_sampling(json_t *root, const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	json_t *rates = json_array();

	for (unsigned rate = 0; rate < HEAP_RATES; rate++) {
		const struct heap_rate held =
			heap_rate(heap, rate, export->now);
		json_t *object = held.ns ? json_object() : NULL;

		if (!object)
			continue;
		json_set_number(object, "sample", held.sample);
		json_set_number(object, "time", held.ns);
		json_array_append_new(rates, object);
	}
	json_set_number(root, "sample", heap_sample(heap));
	json_object_set_new(root, "rates", rates);
}

/*
 * Sites have as many lines as all stacks have frames: gigabytes, of a compiler that
 * allocates from 200,000 places. So each is made when it is written.
 */
static void put_sites(const struct heap_export *export,
		      const struct heap_rows *rows,
		      const struct heap_pieces *pieces)
{
	strbuf_putc(pieces->out, '[');
	for (size_t i = 0; i < rows->count; i++) {
		json_t *site = site_object(export, rows, rows->list[i]);

		if (i)
			strbuf_putc(pieces->out, ',');
		json_put_line(2, pieces->out);
		json_put_inside(site, 2, pieces->out);
		json_decref(site);
		pieces->added(pieces->context);
	}
	if (rows->count)
		json_put_line(1, pieces->out);
	strbuf_putc(pieces->out, ']');
}

static void put_key(const char *key, bool first, struct strbuf *out)
{
	if (!first)
		strbuf_putc(out, ',');
	json_put_line(1, out);
	json_put_key(key, out);
}

/* Takes it over. */
static void put_members(json_t *object, bool first, struct strbuf *out)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		put_key(key, first, out);
		json_put_inside(value, 1, out);
		first = false;
	}
	json_decref(object);
}

/* What stands before the sites, … */
static json_t *head_of(const struct heap_export *export,
		       const struct heap_report_config *config,
		       const struct heap_rows *rows)
{
	const struct heap *heap = export->process->heap;
	json_t *head = json_object();

	json_object_set_new(head, "calltrap", json_string(PACKAGE_VERSION));
	json_object_set_new(head, "process", process_of(export));
	if (heap_sample(heap))
		add_sampling(head, export);
	json_object_set_new(head, "summary", summary_of(export, rows));
	if (config->options->histogram)
		json_object_set_new(head, "sizes", all_sizes(heap));
	json_object_set_new(head, "reach", reach_of(heap_reach(heap)));
	set_untyped(head, heap_looked(heap));
	return head;
}

/* … and behind them. */
static json_t *rest_of(const struct heap_export *export)
{
	json_t *rest = json_object();

	heap_json_set_more(rest, export);
	growth_json_set(rest, export);
	return rest;
}

void heap_json_put(const struct heap_export *export,
		   const struct heap_pieces *pieces)
{
	struct heap_report_options options = *export->config->options;
	struct heap_report_config config = *export->config;
	struct heap_rows rows;

	options.by = HEAP_BY_STACK;
	config.options = &options;
	rows = heap_rows_of(&config, export->process->heap, export->now);
	strbuf_putc(pieces->out, '{');
	put_members(head_of(export, &config, &rows), true, pieces->out);
	put_key("sites", false, pieces->out);
	put_sites(export, &rows, pieces);
	put_members(rest_of(export), false, pieces->out);
	strbuf_puts(pieces->out, "\n}\n");
	heap_rows_fini(&rows);
}

static void keep(void *context UNUSED)
{
}

void heap_json_make(const struct heap_export *export, struct strbuf *out)
{
	heap_json_put(export, &(struct heap_pieces){ out, keep, NULL });
}
