/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/viewer/frame_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/format/frame_text.h"
#include "report/format/names.h"

struct frame_text {
	char *text;
	uint32_t number;
	UT_hash_handle hh;
};

void frame_table_fini(struct frame_table *table)
{
	struct frame_text *key, *next;

	HASH_ITER(hh, table->keys, key, next) {
		HASH_DEL(table->keys, key);
		free(key->text);
		free(key);
	}
	for (size_t i = 0; i < table->count; i++) {
		free((char *)table->rows[i].function);
		free((char *)table->rows[i].library);
		free((char *)table->rows[i].file);
	}
	free(table->rows);
	*table = (struct frame_table){ 0 };
}

/* What two frames must agree in to be one. */
static void make_key(const struct frame_row *row, struct strbuf *ret)
{
	strbuf_printf(ret, "%s\n%s\n%s\n%u", row->function, row->library,
		      row->file, row->line);
}

static void add_key(struct frame_table *table, const char *text)
{
	struct frame_text *key = xcalloc(1, sizeof(*key));

	key->text = xstrdup(text);
	key->number = table->count;
	HASH_ADD_KEYPTR(hh, table->keys, key->text, strlen(key->text), key);
}

static uint32_t number_of(struct frame_table *table,
			  const struct frame_row *row)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct frame_text *key;

	make_key(row, &text);
	HASH_FIND_STR(table->keys, strbuf_text(&text), key);
	if (key)
		return key->number;
	add_key(table, strbuf_text(&text));
	table->rows = xgrow(table->rows, table->count, &table->room,
			    sizeof(*table->rows));
	table->rows[table->count] = (struct frame_row){
		.function = xstrdup(row->function),
		.library = xstrdup(row->library),
		.file = xstrdup(row->file),
		.line = row->line,
		.address = row->address,
	};
	return table->count++;
}

static uint32_t add_frame(struct frame_table *table, const struct frame *frame,
			  const struct frame_name *name)
{
	CLEANUP(strbuf_fini) struct strbuf function = { 0 };
	CLEANUP(strbuf_fini) struct strbuf library = { 0 };
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };

	frame_text_add(frame, name, &function);
	names_escape(&library, name->library);
	names_escape(&file, name->file ? name->file : "");
	return number_of(table, &(struct frame_row){
					.function = strbuf_text(&function),
					.library = strbuf_text(&library),
					.file = strbuf_text(&file),
					.line = name->line,
					.address = frame->address,
				});
}

static uint32_t add_text(struct frame_table *table, const char *text)
{
	return number_of(table, &(struct frame_row){ .function = text,
						     .library = "",
						     .file = "" });
}

static uint32_t add_allocator(struct frame_table *table, const char *symbol)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	frame_text_add_allocator(symbol, &name);
	return add_text(table, strbuf_text(&name));
}

void frame_row_add(const struct frame_row *row, struct strbuf *out)
{
	strbuf_puts(out, row->function);
	if (*row->file)
		strbuf_printf(out, " (%s:%u)", row->file, row->line);
	else if (*row->library)
		strbuf_printf(out, " (in %s)", row->library);
}

struct number_list {
	uint32_t *list;
	size_t count, room;
};

static void append(struct number_list *numbers, uint32_t number)
{
	numbers->list = xgrow(numbers->list, numbers->count, &numbers->room,
			      sizeof(*numbers->list));
	numbers->list[numbers->count++] = number;
}

uint32_t *frame_table_stack(struct frame_table *table, struct namer *namer,
			    const struct stacks *stacks, stack_id stack,
			    const char *allocator, size_t *count_ret)
{
	size_t depth;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(namer, stacks, stack, allocator, &depth);
	struct number_list numbers = { 0 };

	if (stacks_end(stacks, stack) != STACK_COMPLETE)
		append(&numbers, add_text(table, "[...]"));
	while (depth--) {
		const struct frame_name *names;
		size_t count = namer_names(namer, &frames[depth], &names);

		while (count--)
			append(&numbers,
			       add_frame(table, &frames[depth], &names[count]));
	}
	append(&numbers, add_allocator(table, allocator));
	*count_ret = numbers.count;
	return numbers.list;
}
