/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/page.h"
#include "report/format/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "heap/verdict.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/page/page_text.h"
#include "report/page/source_lines.h"
#include "report/viewer/viewer.h"

/*
 * The page's data is one object, in an element that isn't run; see page.js for
 * what becomes of it. Numbers stand for paths, which come again and again.
 */
struct path {
	const char *text;
	uint32_t number;
	UT_hash_handle hh;
};

struct paths {
	struct path *table;
	json_t *list;
};

struct page {
	struct viewer viewer;
	struct paths libraries, files;
	struct source_lines lines; /* --source; else none */
};

/* -1: there is none. The text has to live as long as the table. */
static json_t *path_number(struct paths *paths, const char *text)
{
	struct path *path;

	if (!text || !*text)
		return json_integer(-1);
	HASH_FIND_STR(paths->table, text, path);
	if (path)
		return json_integer(path->number);
	path = xcalloc(1, sizeof(*path));
	path->text = text;
	path->number = HASH_COUNT(paths->table);
	HASH_ADD_KEYPTR(hh, paths->table, path->text, strlen(path->text), path);
	json_array_append_new(paths->list, json_string(text));
	return json_integer(path->number);
}

static void free_paths(struct paths *paths)
{
	struct path *path, *next;

	HASH_ITER(hh, paths->table, path, next) {
		HASH_DEL(paths->table, path);
		free(path);
	}
	json_decref(paths->list);
}

/* ---- frames and sites ---- */

static json_t *frames_of(struct page *page)
{
	const struct frame_table *table = &page->viewer.frames;
	json_t *array = json_array();

	for (size_t i = 0; i < table->count; i++) {
		const struct frame_row *row = &table->rows[i];
		json_t *frame = json_array();

		json_array_append_new(frame, json_string(row->function));
		json_array_append_new(frame, path_number(&page->libraries,
							 row->library));
		json_array_append_new(frame,
				      path_number(&page->files, row->file));
		json_array_append_new(frame, json_integer(row->line));
		if (i < page->lines.count && page->lines.texts[i])
			json_array_append_new(frame,
					      json_string(
						      page->lines.texts[i]));
		json_array_append_new(array, frame);
	}
	return array;
}

static json_t *pair(uint64_t blocks, uint64_t bytes)
{
	json_t *array = json_array();

	json_array_append_new(array, json_number(blocks));
	json_array_append_new(array, json_number(bytes));
	return array;
}

static json_t *stack_of(const struct viewer_site *row)
{
	json_t *array = json_array();

	for (size_t i = 0; i < row->depth; i++)
		json_array_append_new(array, json_integer(row->frames[i]));
	return array;
}

static json_t *cells_of(const struct site *site)
{
	const struct timeline_cells *cells = &site->times_of_blocks;
	json_t *array = json_array();

	for (uint32_t i = 0; i < cells->count; i++) {
		const struct timeline_cell *cell = &cells->list[i];
		json_t *numbers = json_array();

		json_array_append_new(numbers, json_integer(cell->acquired));
		json_array_append_new(numbers, json_integer(cell->gone));
		json_array_append_new(numbers, json_number(cell->blocks));
		json_array_append_new(numbers, json_number(cell->bytes));
		json_array_append_new(array, numbers);
	}
	return array;
}

static json_t *site_of(struct page *page, const struct viewer_site *row)
{
	const struct heap_export *export = page->viewer.export;
	const struct site *site = row->site;
	const struct verdict verdict =
		verdict_of(export->process->heap, site, export->survey);
	const struct heap_export_held held =
		viewer_held(&page->viewer, row, page->viewer.timeline->count);
	const struct site_amount at_peak =
		heap_at_peak(export->process->heap, site);
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	json_t *object = json_object();

	verdict_explain(&verdict, site, &why);
	json_object_set_new(object, "stack", stack_of(row));
	json_object_set_new(object, "library",
			    path_number(&page->libraries, site->library));
	json_object_set_new(object, "verdict",
			    json_string(verdict_name(verdict.level)));
	json_object_set_new(object, "why", json_string(strbuf_text(&why)));
	json_object_set_new(object, "held", pair(held.blocks, held.bytes));
	json_object_set_new(object, "all",
			    pair(site->alloc_blocks, site->alloc_bytes));
	json_object_set_new(object, "peak",
			    pair(at_peak.blocks, at_peak.bytes));
	json_object_set_new(object, "temporary",
			    pair(site->temporary.blocks,
				 site->temporary.bytes));
	json_object_set_new(object, "ns",
			    json_number(site->total_ns > 0 ? site->total_ns :
							     0));
	json_object_set_new(object, "cells", cells_of(site));
	return object;
}

static json_t *sites_of(struct page *page)
{
	json_t *array = json_array();

	for (size_t i = 0; i < page->viewer.count; i++)
		json_array_append_new(array,
				      site_of(page, &page->viewer.sites[i]));
	return array;
}

/* ---- from library to library ---- */

/* Incidents are by pairs of stacks: those of two libraries are one row. */
static json_t *row_of(json_t *rows, const json_t *from, const json_t *to)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (json_equal(json_array_get(row, 0), from) &&
		    json_equal(json_array_get(row, 1), to))
			return row;
	return NULL;
}

static void add_to(json_t *row, size_t column, uint64_t number)
{
	json_t *cell = json_array_get(row, column);

	json_integer_set(cell, json_integer_value(cell) + (json_int_t)number);
}

static json_t *crossings_of(struct page *page)
{
	const struct heap *heap = page->viewer.export->process->heap;
	json_t *rows = json_array();

	for (size_t i = 0; i < heap_incident_count(heap, INCIDENT_CROSS); i++) {
		const struct incident *incident =
			heap_incident_at(heap, INCIDENT_CROSS, i);
		json_t *from =
			path_number(&page->libraries, incident->first_library);
		json_t *to =
			path_number(&page->libraries, incident->second_library);
		json_t *row = row_of(rows, from, to);

		if (!row) {
			row = json_pack("[O, O, i, i]", from, to, 0, 0);
			json_array_append_new(rows, row);
		}
		add_to(row, 2, incident->count);
		add_to(row, 3, incident->bytes);
		json_decref(from);
		json_decref(to);
	}
	return rows;
}

/* ---- the whole ---- */

static void add_facts(const struct heap_export *export, struct strbuf *out)
{
	const struct watched *process = export->process;
	uint64_t lost = process->unreadable + process->unseen;

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
	strbuf_puts(out, "Made by " PACKAGE_STRING ".");
}

static json_t *data_of(struct page *page)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	CLEANUP(strbuf_fini) struct strbuf facts = { 0 };
	const struct viewer *viewer = &page->viewer;
	const struct timeline *timeline = viewer->timeline;
	json_t *root = json_object();

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
	json_object_set_new(root, "frames", frames_of(page));
	json_object_set_new(root, "sites", sites_of(page));
	json_object_set_new(root, "cross", crossings_of(page));
	json_object_set(root, "libraries", page->libraries.list);
	json_object_set(root, "files", page->files.list);
	return root;
}

/* "</script>" in a name would end the element: in JSON '<' occurs in texts
   alone, where it may be written otherwise. */
static void add_data(json_t *data, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *rest, *next;

	viewer_put_json(data, &text);
	for (rest = strbuf_text(&text); (next = strchr(rest, '<'));
	     rest = next + 1) {
		strbuf_printf(out, "%.*s", (int)(next - rest), rest);
		strbuf_puts(out, "\\u003c");
	}
	strbuf_puts(out, rest);
}

void page_put(json_t *data, struct strbuf *out)
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
	add_data(data, out);
	strbuf_puts(out, "</script>\n<script>");
	strbuf_puts(out, page_js);
	strbuf_puts(out, "</script>\n</body>\n</html>\n");
}

void page_make(const struct heap_export *export, struct strbuf *out)
{
	struct page page = { .libraries = { .list = json_array() },
			     .files = { .list = json_array() } };

	viewer_init(&page.viewer, export);
	if (export->config->options->source)
		source_lines_read(&page.viewer.frames, export->process->rights,
				  &page.lines);
	page_put(data_of(&page), out);
	viewer_fini(&page.viewer);
	free_paths(&page.libraries);
	free_paths(&page.files);
	source_lines_fini(&page.lines);
}
