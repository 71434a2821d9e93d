/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "report/format/amounts.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"
#include "report/heap/diff.h"
#include "report/page/page.h"

/*
 * The page of a heap, of two intervals: the old profile and what came after it.
 * What a site has more was acquired in the second one, what it has less was
 * given back in it.
 */
#define HELD 64 /* as page.js has it */

struct numbered_text {
	char *text; /* of a frame, or a path */
	uint32_t number;
	UT_hash_handle hh;
};

struct numbered_texts {
	struct numbered_text *table;
	json_t *list;
};

struct diff_page {
	const struct heap_diff *diff;
	struct numbered_texts frames, files;
};

/* The number of a text; whether it is a new one. */
static struct numbered_text *number_of(struct numbered_texts *numbers,
				       const char *text, bool *new_ret)
{
	struct numbered_text *known;

	HASH_FIND_STR(numbers->table, text, known);
	*new_ret = !known;
	if (known)
		return known;
	known = xcalloc(1, sizeof(*known));
	known->text = xstrdup(text);
	known->number = HASH_COUNT(numbers->table);
	HASH_ADD_KEYPTR(hh, numbers->table, known->text, strlen(known->text),
			known);
	return known;
}

static void free_numbers(struct numbered_texts *numbers)
{
	struct numbered_text *known, *next;

	HASH_ITER(hh, numbers->table, known, next) {
		HASH_DEL(numbers->table, known);
		free(known->text);
		free(known);
	}
}

static json_int_t file_number(struct diff_page *page, const char *file)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct numbered_text *known;
	bool is_new;

	if (!*file)
		return -1;
	names_escape(&text, file);
	known = number_of(&page->files, strbuf_text(&text), &is_new);
	if (is_new)
		json_array_append_new(page->files.list,
				      json_string(known->text));
	return known->number;
}

static json_t *frame_number(struct diff_page *page, const char *function,
			    const char *file, uint64_t line)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	json_int_t number = file_number(page, file);
	struct numbered_text *known;
	bool is_new;

	names_escape(&name, *function ? function : "?");
	strbuf_printf(&key, "%lld %llu %s", (long long)number,
		      (unsigned long long)line, strbuf_text(&name));
	known = number_of(&page->frames, strbuf_text(&key), &is_new);
	if (is_new)
		json_array_append_new(page->frames.list,
				      json_pack("[s, i, I, o]",
						strbuf_text(&name), -1, number,
						json_number(line)));
	return json_integer(known->number);
}

static json_t *stack_of(struct diff_page *page,
			const struct profile_sample *sample)
{
	CLEANUP(strbuf_fini) struct strbuf allocator = { 0 };
	json_t *stack = json_array();

	for (size_t i = sample->frame_count; i--;)
		json_array_append_new(stack,
				      frame_number(page,
						   sample->frames[i].function,
						   sample->frames[i].file,
						   sample->frames[i].line));
	heap_diff_add_allocator(page->diff, sample, &allocator);
	if (allocator.length)
		json_array_append_new(stack,
				      frame_number(page,
						   strbuf_text(&allocator), "",
						   0));
	return stack;
}

static void add_cell(json_t *cells, int acquired, int gone,
		     const struct diff_amount *amount)
{
	if (!diff_amount_is_nothing(amount))
		json_array_append_new(cells,
				      json_pack("[i, i, o, o]", acquired, gone,
						json_number(amount->blocks),
						json_number(amount->bytes)));
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static json_t *cells_of(const struct diff_site *site)
{
	const struct diff_amount *b = &site->before, *n = &site->now;
	const struct diff_amount gone = { less(b->blocks, n->blocks),
					  less(b->bytes, n->bytes) };
	const struct diff_amount more = { less(n->blocks, b->blocks),
					  less(n->bytes, b->bytes) };
	const struct diff_amount stays = { b->blocks - gone.blocks,
					   b->bytes - gone.bytes };
	json_t *cells = json_array();

	add_cell(cells, 0, HELD, &stays);
	add_cell(cells, 0, 1, &gone);
	add_cell(cells, 1, HELD, &more);
	return cells;
}

static json_t *pair(const struct diff_amount *amount)
{
	return json_pack("[o, o]", json_number(amount->blocks),
			 json_number(amount->bytes));
}

static json_t *sites_of(struct diff_page *page)
{
	const struct diff_site *site, *next;
	json_t *sites = json_array();

	HASH_ITER(hh, page->diff->sites, site, next) {
		const struct profile_sample sample =
			profile_sample(site->profile, site->sample);

		json_array_append_new(
			sites,
			json_pack("{s:o, s:i, s:s, s:s, s:o, s:o, s:i, "
				  "s:o}",
				  "stack", stack_of(page, &sample), "library",
				  -1, "verdict", "NOT", "why", "", "held",
				  pair(&site->now), "all", pair(&site->before),
				  "ns", 0, "cells", cells_of(site)));
	}
	return sites;
}

static void add_title(const char *old, const char *new, struct strbuf *out)
{
	strbuf_puts(out, "From ");
	names_escape(out, file_base_name(old));
	strbuf_puts(out, " to ");
	names_escape(out, file_base_name(new));
}

static void add_facts(const struct heap_diff *diff, struct strbuf *out)
{
	strbuf_puts(out, diff->growth ?
				 "What made the process grow" :
				 heap_export_value_text(diff->value)->what);
	if (heap_diff_is_by_time(diff)) {
		strbuf_puts(out, "; watched for ");
		amounts_add_duration(out, diff->before_ns);
		strbuf_puts(out, " before and ");
		amounts_add_duration(out, diff->now_ns);
		strbuf_puts(out, " now, and compared as they are, not per "
				 "second");
	}
	strbuf_puts(out, ". Made by " PACKAGE_STRING ".");
}

static json_t *data_of(struct diff_page *page, const char *old, const char *new)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	CLEANUP(strbuf_fini) struct strbuf facts = { 0 };
	json_t *sites = sites_of(page);

	add_title(old, new, &title);
	add_facts(page->diff, &facts);
	return json_pack("{s:s, s:s, s:b, s:s, s:i, s:i, s:i, s:O, s:o, s:[], "
			 "s:[], s:O}",
			 "title", strbuf_text(&title), "facts",
			 strbuf_text(&facts), "difference", 1, "counted",
			 heap_diff_counted(page->diff), "watched", 2,
			 "interval", 1, "intervals", 2, "frames",
			 page->frames.list, "sites", sites, "cross",
			 "libraries", "files", page->files.list);
}

void heap_diff_make_page(const struct heap_diff *diff, const char *old,
			 const char *new, struct strbuf *out)
{
	struct diff_page page = {
		.diff = diff,
		.frames = { .list = json_array() },
		.files = { .list = json_array() },
	};

	page_put(data_of(&page, old, new), out);
	json_decref(page.frames.list);
	json_decref(page.files.list);
	free_numbers(&page.frames);
	free_numbers(&page.files);
}
