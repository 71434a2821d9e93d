/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "report/file/source_file.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/text.h"

/* The source text of lines that hold something, with the first six columns that
   files of callgrind have. */

#define CONTEXT 3
#define WIDTH   13
#define COLUMNS 6

struct source_line {
	const char *file, *library;
	size_t order; /* of the file, by its first row that is shown */
	unsigned line;
	bool shown;
	uint64_t numbers[COLUMNS];
};

struct hot_lines {
	struct source_line *list;
	size_t count;
	uint64_t total[COLUMNS];
};

/* ---- gathering ---- */

static void add_numbers(uint64_t *sum, const struct heap_row *row)
{
	const uint64_t numbers[COLUMNS] = {
		row->bytes,        row->blocks,      row->alloc_bytes,
		row->alloc_blocks, row->freed_bytes, row->freed_blocks,
	};

	for (size_t i = 0; i < COLUMNS; i++)
		sum[i] += numbers[i];
}

/* Those of the table above. */
static bool is_shown(const struct heap_text *text, const struct heap_row *row,
		     size_t *shown)
{
	unsigned top = text->config->options->top;

	if (!row->blocks || (top && *shown >= top))
		return false;
	++*shown;
	return true;
}

/* A file's rows stand together, where its first one stood. */
static size_t order_of(const struct hot_lines *lines, const char *file)
{
	for (size_t i = 0; i < lines->count; i++)
		if (!strcmp(lines->list[i].file, file))
			return lines->list[i].order;
	return lines->count;
}

static void add_row(struct hot_lines *lines, const struct heap_row *row,
		    bool shown)
{
	struct source_line *line = &lines->list[lines->count];

	add_numbers(lines->total, row);
	if (!row->place || !row->place->line)
		return;
	*line = (struct source_line){
		.file = row->place->file,
		.library = row->place->library,
		.order = order_of(lines, row->place->file),
		.line = row->place->line,
		.shown = shown,
	};
	add_numbers(line->numbers, row);
	lines->count++;
}

static int compare(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Several families may have acquired at one line. */
static void merge(struct hot_lines *lines)
{
	size_t kept = 0;

	for (size_t i = 0; i < lines->count; i++) {
		const struct source_line *line = &lines->list[i];
		struct source_line *last;

		if (!kept || compare(&lines->list[kept - 1], line)) {
			lines->list[kept++] = *line;
			continue;
		}
		last = &lines->list[kept - 1];
		last->shown |= line->shown;
		for (size_t k = 0; k < COLUMNS; k++)
			last->numbers[k] += line->numbers[k];
	}
	lines->count = kept;
}

static struct hot_lines gather(const struct heap_text *text,
			       const struct heap_rows *rows)
{
	struct hot_lines lines = {
		.list = xcalloc(rows->count + 1, sizeof(*lines.list)),
	};
	size_t shown = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct heap_row *row = rows->list[i];
		bool is = is_shown(text, row, &shown);

		if (row->has_size)
			add_row(&lines, row, is);
	}
	qsort(lines.list, lines.count, sizeof(*lines.list), compare);
	merge(&lines);
	return lines;
}

/* ---- printing ---- */

static void put_numbers(const struct heap_text *text, const uint64_t *numbers)
{
	struct strbuf *out = heap_text_out(text);

	for (size_t i = 0; i < COLUMNS; i++) {
		if (numbers && numbers[i])
			amounts_add_column(out, numbers[i], WIDTH);
		else
			strbuf_printf(out, "%*s", WIDTH, numbers ? "0" : ".");
	}
}

/* Behind the end of the file only what has numbers. */
static int put_line(const struct heap_text *text, struct source_file *source,
		    unsigned line, const uint64_t *numbers)
{
	CLEANUP(strbuf_fini) struct strbuf words = { 0 };
	bool there = source && source_file_add_line(source, line, &words);

	if (!there && !numbers)
		return 0;
	put_numbers(text, numbers);
	strbuf_printf(heap_text_out(text), " %6u", line);
	if (words.length)
		strbuf_printf(heap_text_out(text), "  %s", words.text);
	return heap_text_end_line(text);
}

/* Debug information tells of the source that there was then. */
static bool is_newer(const struct source_file *source, const char *program)
{
	struct stat st;

	if (!program || stat(program, &st))
		return false;
	return source->changed.tv_sec > st.st_mtim.tv_sec ||
	       (source->changed.tv_sec == st.st_mtim.tv_sec &&
		source->changed.tv_nsec > st.st_mtim.tv_nsec);
}

static int put_file_name(const struct heap_text *text,
			 const struct source_line *first,
			 const struct source_file *source, int err)
{
	struct strbuf *out = heap_text_out(text);

	names_escape(out, first->file);
	if (err) {
		strbuf_printf(out, ": can't be shown: %s",
			      source_file_problem(err));
	} else if (is_newer(source, first->library)) {
		strbuf_puts(out, ": newer than ");
		names_escape(out, first->library);
		strbuf_puts(out, ", so lines may have moved");
	}
	return heap_text_end_line(text);
}

static int put_gap(const struct heap_text *text)
{
	strbuf_pad(heap_text_out(text),
		   heap_text_out(text)->length + COLUMNS * WIDTH + 4);
	strbuf_puts(heap_text_out(text), "...");
	return heap_text_end_line(text);
}

/* Lines of one file; without the source, those that have numbers. */
static int put_lines(const struct heap_text *text, struct source_file *source,
		     const struct source_line *lines, size_t count)
{
	uint64_t done = 0;
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		uint64_t around = source ? CONTEXT : 0;
		uint64_t last = lines[i].line + around, line;

		if (!lines[i].shown)
			continue;
		line = lines[i].line > around ? lines[i].line - around : 1;
		if (source && done && line > done + 1)
			err = put_gap(text);
		if (line <= done)
			line = done + 1;
		for (; !err && line <= last; line++) {
			while (next < count && lines[next].line < line)
				next++;
			err = put_line(text, source, line,
				       next < count && lines[next].line ==
							       line ?
					       lines[next].numbers :
					       NULL);
		}
		done = last;
	}
	return err;
}

static int put_file(const struct heap_text *text,
		    const struct source_line *lines, size_t count)
{
	const struct rights *rights = text->process->rights;
	struct source_file source;
	int problem, err;

	/* NULL would be our own. */
	problem = rights ? source_file_read(lines[0].file, rights, &source) :
			   -ESRCH;
	err = put_file_name(text, &lines[0], &source, problem);
	if (!err)
		err = put_lines(text, problem ? NULL : &source, lines, count);
	if (!problem)
		source_file_fini(&source);
	return err;
}

static bool has_shown(const struct source_line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (lines[i].shown)
			return true;
	return false;
}

static int put_head(const struct heap_text *text, const struct hot_lines *lines)
{
	static const char *const titles[COLUMNS] = {
		"curB", "curBk", "totB", "totBk", "totFdB", "totFdBk",
	};
	struct strbuf *out = heap_text_out(text);
	int err;

	strbuf_puts(out, "---- SOURCE");
	err = heap_text_end_line(text);
	if (err)
		return err;
	for (size_t i = 0; i < COLUMNS; i++)
		strbuf_printf(out, "%*s", WIDTH, titles[i]);
	strbuf_puts(out, "   line");
	err = heap_text_end_line(text);
	if (err)
		return err;
	put_numbers(text, lines->total);
	strbuf_puts(out, "  in all");
	err = heap_text_end_line(text);
	if (err || has_shown(lines->list, lines->count) || !lines->total[1])
		return err;
	strbuf_puts(out, "no line is known of the rows above: was it built "
			 "with -g?");
	return heap_text_end_line(text);
}

int heap_text_source(const struct heap_text *text, const struct heap_rows *rows)
{
	struct hot_lines lines;
	size_t begin, end;
	int err;

	if (!text->config->options->source)
		return 0;
	lines = gather(text, rows);
	err = put_head(text, &lines);
	for (begin = 0; !err && begin < lines.count; begin = end) {
		const struct source_line *first = &lines.list[begin];

		for (end = begin; end < lines.count; end++)
			if (lines.list[end].order != first->order)
				break;
		if (has_shown(first, end - begin))
			err = put_file(text, first, end - begin);
	}
	free(lines.list);
	return err;
}
