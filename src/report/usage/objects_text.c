/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/usage/objects_text.h"

#include <string.h>

#include "report/format/amounts.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"

/* What pieces of memory are called that an interpreter gets at once. */
static const struct language {
	const char *name, *key, *pool;
} languages[OBJECT_LANGUAGES] = {
	[OBJECTS_OF_PYTHON] = { "PYTHON", "python", "pool" },
	[OBJECTS_OF_RUBY] = { "RUBY", "ruby", "page" },
	[OBJECTS_OF_PHP] = { "PHP", "php", "page" },
};

struct object_line {
	const char *text, *key, *unit;
	const struct object_sum *sum;
};

#define LINES 6

static void list_lines(const struct object_heap *heap,
		       const struct language *language,
		       struct object_line ret[LINES])
{
	const struct object_line lines[LINES] = {
		{ "objects: ", "objects", "object", &heap->objects },
		{ "what these keep apart, and others: ", "others", "piece",
		  &heap->others },
		{ "free, beside pieces in use: ", "free", "piece",
		  &heap->free },
		{ "free as a whole: ", "empty", language->pool, &heap->empty },
		{ "not understood: ", "broken", language->pool, &heap->broken },
		{ "not looked through: ", "unread", "mapping", &heap->unread },
	};

	memcpy(ret, lines, sizeof(lines));
}

/* A process may have no such interpreter, whatever its files are called. */
static bool is_told(const struct object_heap *heap)
{
	return heap->pools || heap->unread.count;
}

static void add_heap(const struct object_heap *heap,
		     const struct language *language, unsigned top,
		     struct strbuf *out)
{
	struct object_line lines[LINES];
	size_t rows = heap->type_count;

	list_lines(heap, language, lines);
	strbuf_printf(out, "---- OBJECTS OF %s\n", language->name);
	for (size_t i = 0; i < LINES; i++) {
		strbuf_puts(out, lines[i].text);
		amounts_add_count(out, lines[i].sum->bytes, "byte");
		strbuf_puts(out, " in ");
		amounts_add_count(out, lines[i].sum->count, lines[i].unit);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "             bytes       objects  of type\n");
	if (top && rows > top)
		rows = top;
	for (size_t i = 0; i < rows; i++) {
		amounts_add_column(out, heap->types[i].bytes, 18);
		amounts_add_column(out, heap->types[i].objects, 14);
		strbuf_puts(out, "  ");
		names_escape(out, heap->types[i].name);
		strbuf_putc(out, '\n');
	}
	if (rows == heap->type_count)
		return;
	amounts_add_count(out, heap->type_count - rows, "more row");
	strbuf_puts(out, " (--top)\n");
}

void objects_text(const struct object_heap heaps[OBJECT_LANGUAGES],
		  unsigned top, struct strbuf *out)
{
	for (size_t i = 0; i < OBJECT_LANGUAGES; i++)
		if (is_told(&heaps[i]))
			add_heap(&heaps[i], &languages[i], top, out);
}

static json_t *heap_object(const struct object_heap *heap,
			   const struct language *language)
{
	json_t *object = json_object(), *types = json_array();
	struct object_line lines[LINES];

	list_lines(heap, language, lines);
	for (size_t i = 0; i < LINES; i++) {
		json_t *sum = json_object();

		json_set_number(sum, "count", lines[i].sum->count);
		json_set_number(sum, "bytes", lines[i].sum->bytes);
		json_object_set_new(object, lines[i].key, sum);
	}
	for (size_t i = 0; i < heap->type_count; i++) {
		json_t *type = json_object();
		const char *name = heap->types[i].name;

		json_object_set_new(type, "name",
				    json_text(name, strlen(name)));
		json_set_number(type, "objects", heap->types[i].objects);
		json_set_number(type, "bytes", heap->types[i].bytes);
		json_array_append_new(types, type);
	}
	json_object_set_new(object, "types", types);
	return object;
}

void objects_json(const struct object_heap heaps[OBJECT_LANGUAGES],
		  json_t *object)
{
	for (size_t i = 0; i < OBJECT_LANGUAGES; i++)
		if (is_told(&heaps[i]))
			json_object_set_new(object, languages[i].key,
					    heap_object(&heaps[i],
							&languages[i]));
}
