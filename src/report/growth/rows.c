/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/growth/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "growth/caller.h"

/* Rows while they are gathered. */
struct growth_gathering {
	const struct heap_report_config *config;
	struct growth_row *rows; /* by name */
};

static struct growth_row *row_named(struct growth_gathering *g,
				    const char *name)
{
	struct growth_row *row;

	HASH_FIND_STR(g->rows, name, row);
	if (row)
		return row;
	row = xcalloc(1, sizeof(*row));
	row->name = xstrdup(name);
	row->key = HASH_COUNT(g->rows);
	HASH_ADD_KEYPTR(hh, g->rows, row->name, strlen(row->name), row);
	return row;
}

/* The C library itself, and nobody behind it. */
static void add_library(const struct growth_gathering *g, stack_id stack,
			struct strbuf *out)
{
	struct frame frame;

	if (stacks_frames(g->config->stacks, stack, &frame, 1) &&
	    *frame.code->path)
		strbuf_puts(out, file_base_name(frame.code->path));
	else
		strbuf_puts(out, "?");
}

static const char *library_of(const struct frame_name *name)
{
	return *name->library ? file_base_name(name->library) : "(no library)";
}

static void add_place(const struct growth_gathering *g,
		      const struct growth_site *site, struct strbuf *out)
{
	struct frame frame;
	const struct frame_name *name = growth_caller(g->config->stacks,
						      g->config->namer,
						      site->stack, &frame);
	const enum heap_by by = g->config->options->by;

	if (site->function && site->stack == STACK_NONE)
		strbuf_puts(out, site->function);
	else if (!name)
		add_library(g, site->stack, out);
	else if (by == HEAP_BY_LIBRARY)
		strbuf_puts(out, library_of(name));
	else if (by == HEAP_BY_LINE && name->file)
		strbuf_printf(out, "%s:%u", name->file, name->line);
	else if (name->function)
		strbuf_printf(out, "%s in %s", name->function,
			      file_base_name(name->library));
	else
		strbuf_puts(out, library_of(name));
}

static void add_site(struct growth_gathering *g, const struct growth_site *site)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const enum heap_by by = g->config->options->by;
	const bool alone = by != HEAP_BY_FUNCTION && by != HEAP_BY_LINE &&
			   by != HEAP_BY_LIBRARY;
	struct growth_row *row;

	if (alone)
		strbuf_printf(&name, "%u", (unsigned)site->number);
	else
		add_place(g, site, &name);
	row = row_named(g, strbuf_text(&name));
	row->site = alone ? site : NULL;
	row->calls += site->calls;
	row->bytes += site->bytes;
	row->there += site->bytes - site->gone;
	row->back_calls += site->back_calls;
	row->back += site->back;
}

/* ---- the order ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_growth(const void *a, const void *b, void *order)
{
	const struct growth_row *x = a, *y = b;
	int result = 0;

	if (*(enum heap_order *)order == HEAP_ORDER_BLOCKS ||
	    *(enum heap_order *)order == HEAP_ORDER_RATE)
		result = compare(x->calls, y->calls);
	if (!result)
		result = compare(x->there, y->there);
	if (!result)
		result = compare(x->bytes, y->bytes);
	return result ? result : compare(y->key, x->key);
}

static int by_back(const void *a, const void *b)
{
	const struct growth_row *x = a, *y = b;
	int result = compare(x->back, y->back);

	return result ? result : compare(y->key, x->key);
}

static struct growth_rows take_over(struct growth_gathering *g)
{
	enum heap_order order = g->config->options->order;
	struct growth_rows result = {
		.list = xcalloc(HASH_COUNT(g->rows) + 1, sizeof(*result.list)),
	};
	struct growth_row *row, *next;

	HASH_ITER(hh, g->rows, row, next) {
		HASH_DEL(g->rows, row);
		result.list[result.count++] = *row;
		free(row);
	}
	qsort_r(result.list, result.count, sizeof(*result.list), by_growth,
		&order);
	return result;
}

struct growth_rows growth_rows_of(const struct heap_report_config *config,
				  const struct growth *growth,
				  enum growth_kind kind)
{
	struct growth_gathering g = { .config = config };

	for (size_t i = 1; i <= growth_site_count(growth); i++) {
		const struct growth_site *site = growth_site(growth, i);

		if (site->kind == kind)
			add_site(&g, site);
	}
	return take_over(&g);
}

void growth_rows_sort_by_back(struct growth_rows *rows)
{
	qsort(rows->list, rows->count, sizeof(*rows->list), by_back);
}

void growth_rows_fini(struct growth_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->list[i].name);
	free(rows->list);
}
