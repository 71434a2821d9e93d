/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/page_data.h"

#include <string.h>

#include "base/hash.h"
#include "report/format/json_put.h"
#include "report/format/json_writer.h"

static const char *const column_names[PAGE_COLUMNS] = {
	[PAGE_BACK] = "back",
	[PAGE_FRAME] = "frame",
	[PAGE_NODE] = "node",
	[PAGE_LIBRARY] = "library",
	[PAGE_VERDICT] = "verdict",
	[PAGE_HELD_BLOCKS] = "heldBlocks",
	[PAGE_HELD_BYTES] = "heldBytes",
	[PAGE_ALL_BLOCKS] = "allBlocks",
	[PAGE_ALL_BYTES] = "allBytes",
	[PAGE_PEAK_BLOCKS] = "peakBlocks",
	[PAGE_PEAK_BYTES] = "peakBytes",
	[PAGE_TEMPORARY_BLOCKS] = "temporaryBlocks",
	[PAGE_TEMPORARY_BYTES] = "temporaryBytes",
	[PAGE_NS] = "ns",
	[PAGE_CELLS] = "cells",
	[PAGE_ACQUIRED] = "acquired",
	[PAGE_GONE] = "gone",
	[PAGE_BLOCKS] = "blocks",
	[PAGE_BYTES] = "bytes",
};

struct page_text {
	char *text;
	int number;
	UT_hash_handle hh;
};

struct page_node_key {
	uint32_t parent, frame;
};

struct page_node {
	struct page_node_key key;
	uint32_t number;
	UT_hash_handle hh;
};

void page_data_init(struct page_data *data)
{
	*data = (struct page_data){
		.root = json_object(),
		.libraries = { .list = json_array() },
		.files = { .list = json_array() },
		.frames = json_array(),
	};
}

static void free_texts(struct page_texts *texts)
{
	struct page_text *text, *next;

	HASH_ITER(hh, texts->table, text, next) {
		HASH_DEL(texts->table, text);
		free(text->text);
		free(text);
	}
	json_decref(texts->list);
}

void page_data_fini(struct page_data *data)
{
	struct page_node *node, *next;

	HASH_ITER(hh, data->nodes, node, next) {
		HASH_DEL(data->nodes, node);
		free(node);
	}
	free_texts(&data->libraries);
	free_texts(&data->files);
	json_decref(data->frames);
	json_decref(data->root);
	for (size_t i = 0; i < PAGE_COLUMNS; i++)
		strbuf_fini(&data->columns[i].text);
}

int page_data_path(struct page_texts *paths, const char *path)
{
	struct page_text *known;

	if (!path || !*path)
		return -1;
	HASH_FIND_STR(paths->table, path, known);
	if (known)
		return known->number;
	known = xcalloc(1, sizeof(*known));
	known->text = xstrdup(path);
	known->number = HASH_COUNT(paths->table);
	HASH_ADD_KEYPTR(hh, paths->table, known->text, strlen(known->text),
			known);
	json_array_append_new(paths->list, json_string(path));
	return known->number;
}

void page_data_add_frame(struct page_data *data, const char *function,
			 int library, int file, uint64_t line, const char *text)
{
	json_t *frame = json_pack("[s, i, i, o]", function, library, file,
				  json_number(line));

	if (text)
		json_array_append_new(frame, json_string(text));
	json_array_append_new(data->frames, frame);
}

static uint32_t node_of(struct page_data *data, uint32_t parent, uint32_t frame)
{
	const struct page_node_key key = { parent, frame };
	struct page_node *node;

	HASH_FIND(hh, data->nodes, &key, sizeof(key), node);
	if (node)
		return node->number;
	node = xcalloc(1, sizeof(*node));
	node->key = key;
	node->number = HASH_COUNT(data->nodes) + 1;
	HASH_ADD(hh, data->nodes, key, sizeof(node->key), node);
	page_data_add(data, PAGE_BACK, node->number - parent);
	page_data_add(data, PAGE_FRAME, frame);
	return node->number;
}

uint32_t page_data_stack(struct page_data *data, const uint32_t *frames,
			 size_t depth)
{
	uint32_t node = 0;

	for (size_t i = 0; i < depth; i++)
		node = node_of(data, node, frames[i]);
	return node;
}

#define DIGIT_BITS 5
#define MORE       (1u << DIGIT_BITS)

static void put_digits(struct strbuf *out, uint64_t number)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; number >= MORE; number >>= DIGIT_BITS)
		strbuf_putc(out, digits[number % MORE + MORE]);
	strbuf_putc(out, digits[number]);
}

void page_data_add(struct page_data *data, enum page_column column,
		   int64_t number)
{
	struct page_column_text *text = &data->columns[column];
	const uint64_t difference = (uint64_t)number - (uint64_t)text->last;

	put_digits(&text->text, difference << 1 ^ -(difference >> 63));
	text->last = number;
}

/* "</script>" in a name would end the element: in JSON '<' occurs in texts
   alone, where it may be written otherwise. */
static void put_root(struct page_data *data, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *rest, *next;

	json_object_set(data->root, "frames", data->frames);
	json_object_set(data->root, "libraries", data->libraries.list);
	json_object_set(data->root, "files", data->files.list);
	json_put(data->root, JSON_COMPACT, &text);
	for (rest = strbuf_text(&text); (next = strchr(rest, '<'));
	     rest = next + 1) {
		strbuf_printf(out, "%.*s", (int)(next - rest), rest);
		strbuf_puts(out, "\\u003c");
	}
	strbuf_puts(out, rest);
}

void page_data_put(struct page_data *data, struct strbuf *out)
{
	strbuf_puts(out, "{\"about\":");
	put_root(data, out);
	for (size_t i = 0; i < PAGE_COLUMNS; i++) {
		strbuf_printf(out, ",\n\"%s\":\"", column_names[i]);
		strbuf_puts(out, strbuf_text(&data->columns[i].text));
		strbuf_puts(out, "\"");
	}
	strbuf_puts(out, "}\n");
}
