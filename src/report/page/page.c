/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/page.h"
#include "report/format/json_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "heap/caller.h"
#include "heap/verdict.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/memory/heap_rates.h"
#include "report/page/page_text.h"
#include "report/page/source_lines.h"
#include "report/viewer/viewer.h"

struct page {
	struct viewer viewer;
	struct page_data data;
	struct source_lines lines; /* --source; else none */
	json_t *who, *why;         /* by the site's number, from 0 on */
};

/* ---- frames and sites ---- */

static void add_frames(struct page *page)
{
	const struct frame_table *table = &page->viewer.frames;
	struct page_data *data = &page->data;

	for (size_t i = 0; i < table->count; i++) {
		const struct frame_row *row = &table->rows[i];

		page_data_add_frame(
			data, row->function,
			page_data_path(&data->libraries, row->library),
			page_data_path(&data->files, row->file), row->line,
			i < page->lines.count ? page->lines.texts[i] : NULL);
	}
}

static void add_cells(struct page_data *data, const struct site *site)
{
	const struct timeline_cells *cells = &site->times_of_blocks;

	page_data_add(data, PAGE_CELLS, cells->count);
	for (uint32_t i = 0; i < cells->count; i++) {
		page_data_add(data, PAGE_ACQUIRED, cells->list[i].acquired);
		page_data_add(data, PAGE_GONE, cells->list[i].gone);
		page_data_add(data, PAGE_BLOCKS, cells->list[i].blocks);
		page_data_add(data, PAGE_BYTES, cells->list[i].bytes);
	}
}

/* Who is named for it in the report, too; and where that is. */
static void add_who(struct page *page, const struct site *site, const char *key)
{
	const struct heap_report_config *config = page->viewer.export->config;
	CLEANUP(strbuf_fini) struct strbuf who = { 0 };
	const struct frame_name *name;
	struct frame frame;

	name = heap_caller(config->stacks, config->namer, config->wrappers,
			   site, &frame);
	if (!name)
		return;
	names_escape(&who, name->function);
	strbuf_puts(&who, "  ");
	names_escape(&who,
		     file_base_name(name->file ? name->file : name->library));
	if (name->file)
		strbuf_printf(&who, ":%u", name->line);
	json_object_set_new(page->who, key, json_text(who.text, who.length));
}

/* Of most sites there is nothing to be said. */
static void add_verdict(struct page *page, size_t i)
{
	const struct heap_export *export = page->viewer.export;
	const struct site *site = page->viewer.sites[i].site;
	const struct verdict verdict =
		verdict_of(export->process->heap, site, export->survey);
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	char key[24];

	page_data_add(&page->data, PAGE_VERDICT, verdict.level);
	if (verdict.level == VERDICT_NOT)
		return;
	verdict_explain(&verdict, site, &why);
	snprintf(key, sizeof(key), "%zu", i);
	json_object_set_new(page->why, key, json_string(strbuf_text(&why)));
	add_who(page, site, key);
}

static void add_amounts(struct page *page, const struct viewer_site *row)
{
	const struct heap *heap = page->viewer.export->process->heap;
	const struct site *site = row->site;
	const struct heap_export_held held =
		viewer_held(&page->viewer, row, page->viewer.timeline->count);
	const struct site_amount at_peak = heap_at_peak(heap, site);
	struct page_data *data = &page->data;

	page_data_add(data, PAGE_HELD_BLOCKS, held.blocks);
	page_data_add(data, PAGE_HELD_BYTES, held.bytes);
	page_data_add(data, PAGE_ALL_BLOCKS, site->alloc_blocks);
	page_data_add(data, PAGE_ALL_BYTES, site->alloc_bytes);
	page_data_add(data, PAGE_PEAK_BLOCKS, at_peak.blocks);
	page_data_add(data, PAGE_PEAK_BYTES, at_peak.bytes);
	page_data_add(data, PAGE_TEMPORARY_BLOCKS, site->temporary.blocks);
	page_data_add(data, PAGE_TEMPORARY_BYTES, site->temporary.bytes);
	page_data_add(data, PAGE_NS,
		      heap_mean_time(heap_total_time(heap, site->total_ns,
						     site->times.count,
						     site->alloc_blocks),
				     1));
}

static void add_site(struct page *page, size_t i)
{
	const struct viewer_site *row = &page->viewer.sites[i];
	struct page_data *data = &page->data;

	page_data_add(data, PAGE_NODE,
		      page_data_stack(data, row->frames, row->depth));
	page_data_add(data, PAGE_LIBRARY,
		      page_data_path(&data->libraries, row->site->library));
	add_verdict(page, i);
	add_amounts(page, row);
	add_cells(data, row->site);
}

/* ---- from library to library ---- */

/* Incidents are by pairs of stacks: those of two libraries are one row. */
static json_t *row_of(json_t *rows, int from, int to)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (json_integer_value(json_array_get(row, 0)) == from &&
		    json_integer_value(json_array_get(row, 1)) == to)
			return row;
	row = json_pack("[i, i, i, i]", from, to, 0, 0);
	json_array_append_new(rows, row);
	return row;
}

static void add_to(json_t *row, size_t column, uint64_t number)
{
	json_t *cell = json_array_get(row, column);

	json_integer_set(cell, json_integer_value(cell) + (json_int_t)number);
}

static json_t *crossings_of(struct page *page)
{
	const struct heap *heap = page->viewer.export->process->heap;
	struct page_texts *libraries = &page->data.libraries;
	json_t *rows = json_array();

	for (size_t i = 0; i < heap_incident_count(heap, INCIDENT_CROSS); i++) {
		const struct incident *incident =
			heap_incident_at(heap, INCIDENT_CROSS, i);
		json_t *row = row_of(rows,
				     page_data_path(libraries,
						    incident->first_library),
				     page_data_path(libraries,
						    incident->second_library));

		add_to(row, 2, incident->count);
		add_to(row, 3, incident->bytes);
	}
	return rows;
}

/* ---- the whole ---- */

static void add_facts(const struct heap_export *export, struct strbuf *out)
{
	const struct watched *process = export->process;
	uint64_t lost = watched_lost(process);

	names_escape(out, process->program ? process->program : "?");
	strbuf_printf(out, ", process %d, watched for ", (int)process->pid);
	amounts_add_duration(out, export->now - process->start);
	strbuf_puts(out, process->complete ? " from its start on: " : ": ");
	amounts_add_count(out, process->calls, "call");
	strbuf_puts(out, " of allocators; ");
	if (lost || heap_unkept(process->heap))
		strbuf_printf(out,
			      "%" PRIu64 " calls were lost, %" PRIu64
			      " acquisitions not kept. ",
			      lost, heap_unkept(process->heap));
	else
		strbuf_puts(out, "none was lost. ");
	if (heap_sample(process->heap)) {
		strbuf_puts(out, "Kept was ");
		heap_rates_add(process->heap, export->now, out);
		strbuf_puts(out, ", on average: numbers are estimates. ");
	}
	strbuf_puts(out, "Made by " PACKAGE_STRING ".");
}

static void add_about(struct page *page)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	CLEANUP(strbuf_fini) struct strbuf facts = { 0 };
	const struct viewer *viewer = &page->viewer;
	const struct timeline *timeline = viewer->timeline;
	json_t *root = page->data.root;

	strbuf_puts(&title, "Heap of ");
	viewer_add_title(viewer, &title);
	add_facts(viewer->export, &facts);
	json_object_set_new(root, "title", json_string(strbuf_text(&title)));
	json_object_set_new(root, "facts", json_string(strbuf_text(&facts)));
	json_object_set_new(root, "watched",
			    json_number(viewer_time(viewer, timeline->count)));
	json_object_set_new(root, "interval",
			    json_number(timeline_interval(timeline)));
	json_object_set_new(root, "intervals", json_integer(timeline->count));
	json_object_set_new(root, "cross", crossings_of(page));
	json_object_set(root, "who", page->who);
	json_object_set(root, "why", page->why);
}

void page_put(struct page_data *data, struct strbuf *out)
{
	strbuf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			 "<meta charset=\"utf-8\">\n");
	strbuf_printf(out,
		      "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"default-src 'none'; style-src 'sha256-%s'; "
		      "script-src 'sha256-%s'; base-uri 'none'; "
		      "form-action 'none'\">\n",
		      page_css_hash, page_js_hash);
	strbuf_puts(out, "<meta name=\"viewport\" "
			 "content=\"width=device-width\">\n"
			 "<title>calltrap heap</title>\n<style>");
	strbuf_puts(out, page_css);
	strbuf_puts(out, "</style>\n</head>\n<body>\n");
	strbuf_puts(out, page_html);
	strbuf_puts(out, "<script id=\"data\" type=\"application/json\">\n");
	page_data_put(data, out);
	strbuf_puts(out, "</script>\n<script>");
	strbuf_puts(out, page_js);
	strbuf_puts(out, "</script>\n</body>\n</html>\n");
}

void page_make(const struct heap_export *export, struct strbuf *out)
{
	struct page page = { .who = json_object(), .why = json_object() };

	viewer_init(&page.viewer, export);
	page_data_init(&page.data);
	if (export->config->options->source)
		source_lines_read(&page.viewer.frames, export->process->rights,
				  &page.lines);
	add_frames(&page);
	for (size_t i = 0; i < page.viewer.count; i++)
		add_site(&page, i);
	add_about(&page);
	page_put(&page.data, out);
	page_data_fini(&page.data);
	viewer_fini(&page.viewer);
	source_lines_fini(&page.lines);
	json_decref(page.who);
	json_decref(page.why);
}
