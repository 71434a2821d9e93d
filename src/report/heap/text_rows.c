/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "heap/look.h"
#include "heap/slab.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/text.h"
#include "report/memory/names.h"

/* The rows: of each a line of a table, of stacks the evidence as well. */

static int add_heading(const struct heap_text *text)
{
	static const char *const what[] = {
		[HEAP_BY_STACK] = "STACKS",
		[HEAP_BY_FUNCTION] = "FUNCTIONS",
		[HEAP_BY_LINE] = "LINES",
		[HEAP_BY_LIBRARY] = "LIBRARIES",
		[HEAP_BY_THREAD] = "THREADS",
		[HEAP_BY_SIZE] = "SIZES",
		[HEAP_BY_COMPONENT] = "COMPONENTS",
		[HEAP_BY_SCRIPT] = "SCRIPT LINES AND TYPES",
	};
	static const char *const order[] = {
		[HEAP_ORDER_BYTES] = "bytes",
		[HEAP_ORDER_BLOCKS] = "blocks",
		[HEAP_ORDER_RATE] = "blocks acquired",
		[HEAP_ORDER_AGE] = "age",
	};
	const struct heap_report_options *options = text->config->options;

	strbuf_printf(heap_text_out(text), "---- %s, by verdict and %s",
		      what[options->by], order[options->order]);
	if (options->older_than) {
		strbuf_puts(heap_text_out(text), ", older than ");
		amounts_add_duration(heap_text_out(text), options->older_than);
	}
	return heap_text_end_line(text);
}

static int add_columns(const struct heap_text *text)
{
	strbuf_puts(heap_text_out(text),
		    "   bytes held   blocks    acquired  given back   per s  "
		    "median age      oldest  verdict   what");
	return heap_text_end_line(text);
}

static int add_nothing(const struct heap_text *text)
{
	strbuf_puts(heap_text_out(text), "nothing was acquired");
	return heap_text_end_line(text);
}

static void add_rate_column(const struct heap_text *text,
			    const struct heap_row *row)
{
	CLEANUP(strbuf_fini) struct strbuf rate = { 0 };

	amounts_add_rate(&rate, row->alloc_blocks,
			 text->now - text->process->start);
	strbuf_printf(heap_text_out(text), " %7s", strbuf_text(&rate));
}

/* What was called, and by whom. */
void heap_text_what(const struct heap_text *text, const struct heap_row *row)
{
	if (!row->site)
		names_escape(heap_text_out(text), row->own->name);
	else
		heap_text_site(text, row->site);
}

static int add_line(const struct heap_text *text, const struct heap_row *row)
{
	struct strbuf *out = heap_text_out(text);

	amounts_add_column(out, row->bytes, 13);
	amounts_add_column(out, row->blocks, 9);
	if (row->is_of_sites) {
		amounts_add_column(out, row->alloc_blocks, 12);
		amounts_add_column(out, row->freed_blocks, 12);
		add_rate_column(text, row);
	} else {
		strbuf_printf(out, "%12s%12s %7s", "-", "-", "-");
	}
	amounts_add_duration_column(out, log_histogram_quantile(row->ages, 500),
				    12);
	amounts_add_duration_column(out, row->oldest, 12);
	strbuf_printf(out, "  %-8s  ",
		      row->is_of_sites ? verdict_name(row->verdict->level) :
					 "-");
	heap_text_what(text, row);
	return heap_text_end_line(text);
}

static int add_evidence(const struct heap_text *text,
			const struct heap_row *row)
{
	strbuf_printf(heap_text_out(text),
		      "    stack %u: ", (unsigned)row->site->number);
	verdict_explain(row->verdict, row->site, heap_text_out(text));
	return heap_text_end_line(text);
}

/* What its blocks are isn't what the program has asked for. */
static int add_slab(const struct heap_text *text, const struct site *site)
{
	const struct slab *slab =
		slab_of(text->config->stacks, text->config->namer, site);
	struct strbuf *out = heap_text_out(text);

	if (!slab)
		return 0;
	strbuf_printf(out,
		      "    each is %s, for whichever stack needed the next one; "
		      "with %s each object is seen",
		      slab->what, slab->inside);
	return heap_text_end_line(text);
}

/* So many are told. */
#define TYPES_TOLD 8

static int add_types(const struct heap_text *text, const struct heap_row *row)
{
	const struct site_look *look =
		heap_site_look(text->process->heap, row->site);
	struct strbuf *out = heap_text_out(text);

	if (!look || !look->type_count)
		return 0;
	strbuf_puts(out, "    objects: ");
	for (size_t i = 0; i < look->type_count && i < TYPES_TOLD; i++) {
		strbuf_puts(out, i ? ", " : "");
		amounts_add_number(out, look->types[i].blocks);
		strbuf_putc(out, ' ');
		names_escape(out, look->types[i].name);
	}
	if (look->type_count > TYPES_TOLD) {
		strbuf_puts(out, " and ");
		amounts_add_count(out, look->type_count - TYPES_TOLD,
				  "more type");
	}
	return heap_text_end_line(text);
}

/* What is mostly in memory, as usual, is nothing to tell. */
#define PAGES_LEAST (1u << 20)

static int add_pages(const struct heap_text *text, const struct heap_row *row)
{
	const struct site_look *look =
		heap_site_look(text->process->heap, row->site);
	struct strbuf *out = heap_text_out(text);

	if (!look || look->bytes < PAGES_LEAST ||
	    (look->resident >= look->bytes / 2 && !look->swapped))
		return 0;
	strbuf_puts(out, "    asked ");
	amounts_add_count(out, look->bytes, "byte");
	strbuf_puts(out, ", of which ");
	amounts_add_number(out, look->resident);
	strbuf_puts(out, " are resident");
	if (look->huge) {
		strbuf_puts(out, " (in huge pages ");
		amounts_add_number(out, look->huge);
		strbuf_putc(out, ')');
	}
	if (look->swapped) {
		strbuf_puts(out, ", ");
		amounts_add_number(out, look->swapped);
		strbuf_puts(out, " swapped out");
	}
	return heap_text_end_line(text);
}

/* Blocks that are given back at once may be worth a word: if most are, and if
   they are many. */
#define TEMPORARY_MANY 1000

static bool is_temporary(const struct heap_row *row)
{
	return row->alloc_blocks >= TEMPORARY_MANY &&
	       row->temporary_blocks > row->alloc_blocks / 2;
}

/* What the line above has not said already. */
static void add_lives(const struct heap_row *row, struct strbuf *out)
{
	if (row->has_size) {
		strbuf_puts(out, "acquired ");
		amounts_add_count(out, row->alloc_bytes, "byte");
		strbuf_puts(out, ", given back ");
		amounts_add_count(out, row->freed_bytes, "byte");
	}
	if (is_temporary(row)) {
		strbuf_puts(out, row->has_size ? "; " : "");
		amounts_add_number(out, row->temporary_blocks);
		strbuf_puts(out, " temporary");
	}
	if (!row->lifetimes->count || !row->freed_blocks)
		return;
	strbuf_puts(out,
		    row->has_size || is_temporary(row) ? "; lived " : "lived ");
	amounts_add_duration(out, row->lifetime_ns / row->freed_blocks);
	/* The top of a bucket. */
	strbuf_puts(out, " (mean), up to ");
	amounts_add_duration(out, log_histogram_quantile(row->lifetimes, 500));
	strbuf_puts(out, " (median) to ");
	amounts_add_duration(out, row->lifetimes->max);
}

static void add_calls(const struct heap_text *text, const struct heap_row *row)
{
	const uint64_t resolution = text->cost->cost.price.resolution;
	struct strbuf *out = heap_text_out(text);

	if (row->times->count == 1) {
		strbuf_puts(out, "the call took ");
		amounts_add_time(out, row->times->max, resolution);
		return;
	}
	strbuf_puts(out, "each call took ");
	amounts_add_time(out, heap_mean_time(row->total_ns, row->times->count),
			 resolution);
	strbuf_puts(out, " (mean), ");
	amounts_add_time(out, log_histogram_quantile(row->times, 990),
			 resolution);
	strbuf_puts(out, " (p99), ");
	amounts_add_time(out, row->times->max, resolution);
	strbuf_puts(out, " (max)");
}

static int add_times(const struct heap_text *text, const struct heap_row *row)
{
	struct strbuf *out = heap_text_out(text);
	bool lives = row->freed_blocks &&
		     (row->has_size || row->lifetimes->count);

	if (!lives && !row->times->count)
		return 0;
	strbuf_puts(out, "    ");
	if (lives)
		add_lives(row, out);
	if (lives && row->times->count)
		strbuf_puts(out, "; ");
	if (row->times->count)
		add_calls(text, row);
	return heap_text_end_line(text);
}

/*
 * Beside leaks, what is none is told in a line each; unless everything is
 * wanted.
 */
static bool is_told_whole(const struct heap_text *text,
			  const struct heap_rows *rows,
			  const struct heap_row *row)
{
	return row->verdict->level == rows->list[0]->verdict->level ||
	       row->verdict->level != VERDICT_NOT ||
	       !text->config->options->top;
}

/* What the same leak holds at other stacks. */
static int add_parts(const struct heap_text *text, const struct heap_row *row)
{
	struct strbuf *out = heap_text_out(text);

	if (!row->parts || !text->config->options->top)
		return 0;
	amounts_add_column(out, row->part_bytes, 13);
	amounts_add_column(out, row->part_blocks, 9);
	strbuf_puts(out, "  in ");
	amounts_add_count(out, row->parts, "more stack");
	strbuf_puts(out, " of the same leak (--top=0)");
	return heap_text_end_line(text);
}

static int add_stack(const struct heap_text *text, const struct site *site,
		     struct heap_text_shown *shown)
{
	const struct heap_text_shown stack = {
		.stack = site->stack,
		.callee = site->function->name,
		.number = site->number,
	};

	return heap_text_next_stack(text, &stack, "        ", shown);
}

static int add_row(const struct heap_text *text, const struct heap_rows *rows,
		   const struct heap_row *row, struct heap_text_shown *shown)
{
	const struct estimates estimates = heap_row_estimates(rows, row);
	int err = add_line(text, row);

	if (!err)
		err = heap_text_estimates(text, &estimates, "    ");
	if (!err)
		err = add_parts(text, row);
	if (err || !is_told_whole(text, rows, row))
		return err;
	if (!err && row->site)
		err = add_evidence(text, row);
	if (!err && row->site)
		err = add_slab(text, row->site);
	if (!err && row->site)
		err = add_types(text, row);
	if (!err && row->site)
		err = add_pages(text, row);
	if (!err && row->site)
		err = add_times(text, row);
	if (!err && text->config->options->histogram)
		err = heap_text_sizes(text, row->sizes);
	if (!err && row->site)
		err = add_stack(text, row->site, shown);
	return err;
}

/* What isn't shown is told all the same. */
static int add_rest(const struct heap_text *text, uint64_t rows, uint64_t bytes,
		    uint64_t blocks, uint64_t empty)
{
	struct strbuf *out = heap_text_out(text);
	int err = 0;

	if (rows) {
		amounts_add_column(out, bytes, 13);
		amounts_add_column(out, blocks, 9);
		strbuf_puts(out, "  in ");
		amounts_add_count(out, rows, "more row");
		strbuf_puts(out, " (--top)");
		err = heap_text_end_line(text);
	}
	if (!err && empty) {
		amounts_add_count(out, empty, "more row");
		strbuf_puts(out, " of which nothing is held");
		err = heap_text_end_line(text);
	}
	return err;
}

/* Rows that hold nothing tell of churn, and are shown to who asks for that. */
static bool is_wanted(const struct heap_text *text, const struct heap_row *row)
{
	const struct heap_report_options *options = text->config->options;

	return row->blocks || !options->top ||
	       options->order == HEAP_ORDER_RATE;
}

/* What will be shown is named all at once. */
static void prepare_names(const struct heap_text *text,
			  const struct heap_rows *rows)
{
	unsigned top = text->config->options->top;
	size_t limit = top && top < rows->count ? top : rows->count;
	stack_id *stacks CLEANUP(xfree_cleanup) =
		xcalloc(limit + 1, sizeof(*stacks));
	size_t count = 0;

	for (size_t i = 0; i < rows->count && count < limit; i++)
		if (rows->list[i]->site && is_wanted(text, rows->list[i]) &&
		    !(top && rows->list[i]->is_part))
			stacks[count++] = rows->list[i]->site->stack;
	heap_names_prepare(text->config, stacks, count, UNWIND_DEPTH_MAX);
}

int heap_text_rows(const struct heap_text *text, const struct heap_rows *rows)
{
	uint64_t left = 0, left_bytes = 0, left_blocks = 0, empty = 0;
	unsigned top = text->config->options->top, count = 0;
	struct heap_text_shown shown = { 0 };
	int err = add_heading(text);

	prepare_names(text, rows);
	for (size_t i = 0; !err && i < rows->count; i++) {
		const struct heap_row *row = rows->list[i];

		if (!is_wanted(text, row)) {
			empty++;
		} else if (row->is_part && top) {
			continue;
		} else if (!top || count < top) {
			if (!count++)
				err = add_columns(text);
			if (!err)
				err = add_row(text, rows, row, &shown);
		} else {
			left++;
			left_bytes += row->bytes;
			left_blocks += row->blocks;
		}
	}
	if (!err && !rows->count)
		err = add_nothing(text);
	return err ? err : add_rest(text, left, left_bytes, left_blocks, empty);
}
