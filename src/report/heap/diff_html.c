/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/diff.h"
#include "report/page/page.h"

/*
 * The page of a heap, of two intervals: the old profile and what came after it.
 * What a site has more was acquired in the second one, what it has less was
 * given back in it.
 */
#define HELD 64 /* as page.js has it */

/* A frame of a profile by its text. */
struct known_frame {
	char *text;
	uint32_t number;
	UT_hash_handle hh;
};

struct diff_page {
	const struct heap_diff *diff;
	struct page_data data;
	struct known_frame *frames;
};

static void free_frames(struct diff_page *page)
{
	struct known_frame *known, *next;

	HASH_ITER(hh, page->frames, known, next) {
		HASH_DEL(page->frames, known);
		free(known->text);
		free(known);
	}
}

static uint32_t frame_number(struct diff_page *page, const char *function,
			     const char *file, uint64_t line)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct known_frame *known;
	int number;

	names_escape(&name, *function ? function : "?");
	names_escape(&path, file);
	number = page_data_path(&page->data.files, strbuf_text(&path));
	strbuf_printf(&key, "%d %" PRIu64 " %s", number, line,
		      strbuf_text(&name));
	HASH_FIND_STR(page->frames, strbuf_text(&key), known);
	if (known)
		return known->number;
	known = xcalloc(1, sizeof(*known));
	known->text = xstrdup(strbuf_text(&key));
	known->number = HASH_COUNT(page->frames);
	HASH_ADD_KEYPTR(hh, page->frames, known->text, strlen(known->text),
			known);
	page_data_add_frame(&page->data, strbuf_text(&name), -1, number, line,
			    NULL);
	return known->number;
}

static uint32_t node_of(struct diff_page *page,
			const struct profile_sample *sample)
{
	CLEANUP(strbuf_fini) struct strbuf allocator = { 0 };
	uint32_t *frames CLEANUP(xfree_cleanup) =
		xcalloc(sample->frame_count + 1, sizeof(*frames));
	size_t depth = 0;

	for (size_t i = sample->frame_count; i--;)
		frames[depth++] = frame_number(page, sample->frames[i].function,
					       sample->frames[i].file,
					       sample->frames[i].line);
	heap_diff_add_allocator(page->diff, sample, &allocator);
	if (allocator.length)
		frames[depth++] =
			frame_number(page, strbuf_text(&allocator), "", 0);
	return page_data_stack(&page->data, frames, depth);
}

static unsigned add_cell(struct page_data *data, int acquired, int gone,
			 const struct diff_amount *amount)
{
	if (diff_amount_is_nothing(amount))
		return 0;
	page_data_add(data, PAGE_ACQUIRED, acquired);
	page_data_add(data, PAGE_GONE, gone);
	page_data_add(data, PAGE_BLOCKS, amount->blocks);
	page_data_add(data, PAGE_BYTES, amount->bytes);
	return 1;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void add_cells(struct page_data *data, const struct diff_site *site)
{
	const struct diff_amount *b = &site->before, *n = &site->now;
	const struct diff_amount gone = { less(b->blocks, n->blocks),
					  less(b->bytes, n->bytes) };
	const struct diff_amount more = { less(n->blocks, b->blocks),
					  less(n->bytes, b->bytes) };
	const struct diff_amount stays = { b->blocks - gone.blocks,
					   b->bytes - gone.bytes };

	page_data_add(data, PAGE_CELLS,
		      add_cell(data, 0, HELD, &stays) +
			      add_cell(data, 0, 1, &gone) +
			      add_cell(data, 1, HELD, &more));
}

static void add_site(struct diff_page *page, const struct diff_site *site)
{
	const struct profile_sample sample =
		profile_sample(site->profile, site->sample);
	struct page_data *data = &page->data;

	page_data_add(data, PAGE_NODE, node_of(page, &sample));
	page_data_add(data, PAGE_LIBRARY, -1);
	page_data_add(data, PAGE_VERDICT, 0);
	page_data_add(data, PAGE_HELD_BLOCKS, site->now.blocks);
	page_data_add(data, PAGE_HELD_BYTES, site->now.bytes);
	page_data_add(data, PAGE_ALL_BLOCKS, site->before.blocks);
	page_data_add(data, PAGE_ALL_BYTES, site->before.bytes);
	add_cells(data, site);
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

static void add_about(struct diff_page *page, const char *old, const char *new)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	CLEANUP(strbuf_fini) struct strbuf facts = { 0 };
	json_t *about;

	add_title(old, new, &title);
	add_facts(page->diff, &facts);
	about = json_pack("{s:s, s:s, s:b, s:s, s:i, s:i, s:i, s:[], s:{}}",
			  "title", strbuf_text(&title), "facts",
			  strbuf_text(&facts), "difference", 1, "counted",
			  heap_diff_counted(page->diff), "watched", 2,
			  "interval", 1, "intervals", 2, "cross", "why");
	json_object_update(page->data.root, about);
	json_decref(about);
}

void heap_diff_make_page(const struct heap_diff *diff, const char *old,
			 const char *new, struct strbuf *out)
{
	struct diff_page page = { .diff = diff };
	const struct diff_site *site, *next;

	page_data_init(&page.data);
	HASH_ITER(hh, diff->sites, site, next)
		add_site(&page, site);
	add_about(&page, old, new);
	page_put(&page.data, out);
	page_data_fini(&page.data);
	free_frames(&page);
}
