/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/growth/text.h"
#include "base/file.h"
#include "growth/caller.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/format/short_name.h"
#include "report/growth/rows.h"
#include "report/memory/names.h"

/* What makes the process grow: of each kind the totals, and tables. */

#define NAME_WIDTH 60

static const struct {
	const char *title;
	const char *what;
} kinds[] = {
	[GROWTH_HEAP] = { "HEAP EXPANSION (brk)", "brk" },
	[GROWTH_MMAP] = { "MAPPINGS (mmap, mremap, munmap)", "mmap" },
	[GROWTH_FAULTS] = { "PAGE FAULTS", "page faults" },
};

static int add_title(const struct heap_text *text, enum growth_kind kind)
{
	strbuf_printf(heap_text_out(text), "---- %s", kinds[kind].title);
	return heap_text_end_line(text);
}

static int add_totals(const struct heap_text *text, enum growth_kind kind)
{
	const struct growth_total total =
		growth_total(text->process->growth, kind);
	struct strbuf *out = heap_text_out(text);

	strbuf_printf(out, "%s: grown by ", kinds[kind].what);
	amounts_add_bytes(out, total.bytes);
	strbuf_puts(out, " in ");
	amounts_add_count(out, total.calls,
			  kind == GROWTH_FAULTS ? "fault" : "call");
	if (total.again) {
		strbuf_puts(out, "; on pages that were there: ");
		amounts_add_bytes(out, total.again);
	}
	if (total.back) {
		strbuf_puts(out, "; given back ");
		amounts_add_bytes(out, total.back);
		strbuf_puts(out, " in ");
		amounts_add_count(out, total.back_calls, "call");
	}
	if (total.back_before) {
		strbuf_puts(out, ", ");
		amounts_add_number(out, total.back_before);
		strbuf_puts(out, " of them there before");
	}
	if (total.failed) {
		strbuf_puts(out, "; failed: ");
		amounts_add_number(out, total.failed);
	}
	return heap_text_end_line(text);
}

/* ---- rows ---- */

/* Nobody but the C library: it has begun by itself. */
static void add_library(const struct heap_text *text, stack_id stack)
{
	struct strbuf *out = heap_text_out(text);
	struct frame frame;

	if (stacks_frames(text->config->stacks, stack, &frame, 1) &&
	    *frame.code->path)
		names_escape(out, file_base_name(frame.code->path));
	else
		strbuf_puts(out, "?");
}

static void add_what(const struct heap_text *text, const struct growth_row *row)
{
	struct strbuf *out = heap_text_out(text);
	const struct frame_name *caller;
	struct frame frame;

	if (!row->site) {
		names_escape(out, row->name);
		return;
	}
	if (row->site->function && row->site->stack == STACK_NONE) {
		names_escape(out, row->site->function);
		return;
	}
	caller = growth_caller(text->config->stacks, text->config->namer,
			       row->site->stack, &frame);
	if (row->site->function)
		strbuf_printf(out, "%s by ", row->site->function);
	if (caller && caller->function)
		short_name_add(out, caller->function, NAME_WIDTH);
	else if (caller && *caller->library)
		names_escape(out, file_base_name(caller->library));
	else
		add_library(text, row->site->stack);
}

/* What has the name of memory has no stack. */
static int add_stack(const struct heap_text *text, const struct growth_row *row,
		     struct heap_text_shown *shown)
{
	if (!row->site || (row->site->function && !row->site->stack))
		return 0;
	return heap_text_next_stack(text,
				    &(struct heap_text_shown){
					    .stack = row->site->stack },
				    "        ", shown);
}

static int add_row(const struct heap_text *text, const struct growth_row *row,
		   struct heap_text_shown *shown)
{
	struct strbuf *out = heap_text_out(text);
	int err;

	amounts_add_column(out, row->there, 16);
	amounts_add_column(out, row->bytes, 16);
	amounts_add_column(out, row->bytes / GROWTH_PAGE, 10);
	amounts_add_column(out, row->calls, 10);
	strbuf_puts(out, "  ");
	add_what(text, row);
	err = heap_text_end_line(text);
	if (!err && row->site)
		err = text->add_cause(text, row->site);
	return err ? err : add_stack(text, row, shown);
}

static int add_back_row(const struct heap_text *text,
			const struct growth_row *row,
			struct heap_text_shown *shown)
{
	struct strbuf *out = heap_text_out(text);
	int err;

	amounts_add_column(out, row->back, 16);
	amounts_add_column(out, row->back / GROWTH_PAGE, 10);
	amounts_add_column(out, row->back_calls, 10);
	strbuf_puts(out, "  ");
	add_what(text, row);
	err = heap_text_end_line(text);
	return err ? err : add_stack(text, row, shown);
}

struct growth_table {
	const char *heading;
	int (*add)(const struct heap_text *text, const struct growth_row *row,
		   struct heap_text_shown *shown);
	uint64_t (*bytes)(const struct growth_row *row);
	bool (*belongs)(const struct growth_row *row);
};

static uint64_t bytes_there(const struct growth_row *row)
{
	return row->there;
}

static bool has_grown(const struct growth_row *row)
{
	return row->calls != 0;
}

static uint64_t bytes_back(const struct growth_row *row)
{
	return row->back;
}

static bool has_given_back(const struct growth_row *row)
{
	return row->back_calls != 0;
}

static const struct growth_table grown = {
	"bytes still there        grown by     pages     calls  what",
	add_row,
	bytes_there,
	has_grown,
};

static const struct growth_table given_back = {
	"      given back     pages     calls  by",
	add_back_row,
	bytes_back,
	has_given_back,
};

static int add_rest(const struct heap_text *text, uint64_t rows, uint64_t bytes)
{
	struct strbuf *out = heap_text_out(text);

	if (!rows)
		return 0;
	amounts_add_column(out, bytes, 16);
	strbuf_puts(out, "  in ");
	amounts_add_count(out, rows, "more row");
	strbuf_puts(out, " (--top)");
	return heap_text_end_line(text);
}

static int add_table(const struct heap_text *text,
		     const struct growth_table *table,
		     const struct growth_rows *rows)
{
	const unsigned top = text->config->options->top;
	uint64_t left = 0, left_bytes = 0;
	struct heap_text_shown shown = { 0 };
	unsigned count = 0;
	int err = 0;

	for (size_t i = 0; !err && i < rows->count; i++) {
		const struct growth_row *row = &rows->list[i];

		if (!table->belongs(row))
			continue;
		if (top && count >= top) {
			left++;
			left_bytes += table->bytes(row);
			continue;
		}
		if (!count++) {
			strbuf_puts(heap_text_out(text), table->heading);
			err = heap_text_end_line(text);
		}
		if (!err)
			err = table->add(text, row, &shown);
	}
	return err ? err : add_rest(text, left, left_bytes);
}

static int add_kind(const struct heap_text *text, enum growth_kind kind)
{
	struct growth_rows rows;
	int err = add_title(text, kind);

	if (!err)
		err = add_totals(text, kind);
	if (err)
		return err;
	rows = growth_rows_of(text->config, text->process->growth, kind);
	err = add_table(text, &grown, &rows);
	if (!err) {
		growth_rows_sort_by_back(&rows);
		err = add_table(text, &given_back, &rows);
	}
	growth_rows_fini(&rows);
	return err;
}

int growth_text(const struct heap_text *text)
{
	const struct growth *growth = text->process->growth;
	int err = 0;

	if (!growth)
		return 0;
	heap_names_prepare_growth(text->config, growth);
	for (enum growth_kind kind = 0; !err && kind < GROWTH_KINDS; kind++)
		if (growth_has(growth, kind))
			err = add_kind(text, kind);
	return err ? err : growth_text_account(text);
}
