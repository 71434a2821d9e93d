/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "heap/beginnings.h"
#include "heap/caller.h"
#include "heap/look.h"
#include "report/format/json_put.h"
#include "report/format/json_writer.h"
#include "report/heap/export.h"

/* Each block that is held, a JSON object a line. Times are in nanoseconds. */

/* What the lines of one site have in common; NULL: nobody has asked yet. */
struct site_lines {
	char **common; /* by number - 1 */
	size_t count;
};

/* Members, to stand between others. */
static void add_members(json_t *object, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	json_put(object, JSON_COMPACT, &text);
	strbuf_printf(out, ",%.*s", (int)(text.length - 2),
		      strbuf_text(&text) + 1);
	json_decref(object);
}

static char *describe(const struct heap_export *export, const struct site *site)
{
	const struct heap_report_config *config = export->config;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	json_t *object = json_object();
	struct frame frame;
	const struct frame_name *caller =
		heap_caller(config->stacks, config->namer, config->wrappers,
			    site, &frame);

	json_set_text(object, "allocator", site->function->name);
	json_set_number(object, "site", site->number);
	if (caller) {
		json_set_text(object, "function", caller->function);
		json_set_text(object, "file", caller->file);
		if (caller->line)
			json_set_number(object, "line", caller->line);
	}
	add_members(object, &text);
	return xstrdup(strbuf_text(&text));
}

static const char *common_of(const struct heap_export *export,
			     struct site_lines *lines, const struct site *site)
{
	char **common = &lines->common[site->number - 1];

	if (!*common)
		*common = describe(export, site);
	return *common;
}

/* Its own, or that of who has its address. */
static void add_type(const struct heap_look *look, uint64_t handle,
		     struct strbuf *out)
{
	const char *type = look ? heap_look_type(look, handle) : NULL;
	json_t *object = type ? json_object() : NULL;

	if (!object)
		return;
	json_set_text(object,
		      heap_look_how(look, handle) == LOOK_OWN ? "type" :
								"part_of",
		      type);
	add_members(object, out);
}

#define CHARACTER_MOST 4 /* bytes, in UTF-8 */

/* The length of a printable text that ends in a NUL, or with what was read of its
   block; else 0. */
static size_t text_length(const char *text, size_t size, bool cut)
{
	size_t at = 0, length;

	while ((length = printable_length(text + at)))
		at += length;
	return !text[at] || (cut && size - at < CHARACTER_MOST) ? at : 0;
}

static void add_hex(const uint8_t *bytes, size_t size, json_t *object)
{
	CLEANUP(strbuf_fini) struct strbuf hex = { 0 };

	strbuf_add_hex_bytes(&hex, bytes, size);
	json_set_text(object, "data", strbuf_text(&hex));
}

/* What a block begins with. */
static void add_beginning(const struct heap_look *look,
			  const struct heap_block *block, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	size_t size, length;
	const uint8_t *bytes = beginnings_find(heap_look_beginnings(look),
					       block->handle, &size);
	json_t *object;

	if (!bytes)
		return;
	object = json_object();
	strbuf_add(&text, bytes, size);
	length = text_length(strbuf_text(&text), size, size < block->size);
	text.text[length] = '\0';
	if (length)
		json_set_text(object, "text", strbuf_text(&text));
	else
		add_hex(bytes, size, object);
	add_members(object, out);
}

static void add_block(const struct heap_export *export,
		      struct site_lines *lines, const struct heap_block *block,
		      struct strbuf *out)
{
	const struct heap *heap = export->process->heap;
	const uint64_t age =
		export->now > block->birth ? export->now - block->birth : 0;

	if (age < export->config->options->older_than ||
	    block->site->suppression)
		return;
	strbuf_printf(out,
		      "{\"address\":\"%#" PRIx64 "\",\"size\":%" PRIu64
		      ",\"age\":%" PRIu64,
		      block->handle, block->size, age);
	if (block->tid)
		strbuf_printf(out, ",\"tid\":%d", (int)block->tid);
	if (heap_sample(heap))
		strbuf_printf(out, ",\"blocks\":%" PRIu64, block->weight.count);
	add_type(heap_looked(heap), block->handle, out);
	add_beginning(heap_looked(heap), block, out);
	strbuf_puts(out, common_of(export, lines, block->site));
	strbuf_puts(out, "}\n");
}

void heap_objects_make(const struct heap_export *export, struct strbuf *out)
{
	const struct heap *heap = export->process->heap;
	struct site_lines lines = { .count = heap_site_count(heap) };
	struct heap_walk walk = { 0 };
	struct heap_block block;

	lines.common = xcalloc(lines.count + 1, sizeof(*lines.common));
	while (heap_next_block(heap, &walk, &block))
		if (block.site->function->family->has_size)
			add_block(export, &lines, &block, out);
	for (size_t i = 0; i < lines.count; i++)
		free(lines.common[i]);
	free(lines.common);
}
