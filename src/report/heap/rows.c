/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "heap/caller.h"
#include "heap/look.h"
#include "heap/verdicts.h"
#include "report/heap/leaks.h"
#include "report/heap/suppressions.h"
#include "report/memory/names.h"

/* Rows while they are gathered. */
struct heap_gathering {
	const struct heap_report_config *config;
	const struct heap *heap;
	const struct survey *survey;
	const struct verdicts *verdicts;
	uint64_t now;
	struct heap_row_own *named;
	size_t room; /* of the result's list */
	struct heap_rows *result;
};

static const struct verdict unjudged;

static struct heap_row *row_new(struct heap_gathering *g)
{
	struct heap_rows *result = g->result;
	struct heap_row *row = xcalloc(1, sizeof(*row));

	row->key = result->count;
	row->verdict = &unjudged;
	result->list = xgrow(result->list, result->count, &g->room,
			     sizeof(*result->list));
	result->list[result->count++] = row;
	return row;
}

/* The row of that name; a new one if there is none. */
static struct heap_row *row_named(struct heap_gathering *g, const char *name)
{
	struct heap_row_own *own;
	struct heap_row *row;

	HASH_FIND_STR(g->named, name, own);
	if (own)
		return own->row;
	row = row_new(g);
	own = row->own = xcalloc(1, sizeof(*own));
	own->row = row;
	own->name = xstrdup(name);
	row->ages = &own->ages;
	row->sizes = &own->sizes;
	row->lifetimes = &own->lifetimes;
	row->times = &own->times;
	HASH_ADD_KEYPTR(hh, g->named, own->name, strlen(own->name), own);
	return row;
}

static struct heap_row *row_of_site(struct heap_gathering *g,
				    const struct site *site,
				    const struct survey_site *ages)
{
	struct heap_row *row = row_new(g);

	row->site = site;
	row->ages = &ages->ages;
	row->sizes = &site->sizes;
	row->lifetimes = &site->lifetimes;
	row->times = &site->times;
	return row;
}

/* ---- names ---- */

static void add_library(const struct site *site, struct strbuf *out)
{
	strbuf_puts(out, site->library && *site->library ?
				 file_base_name(site->library) :
				 "(no library)");
}

/* Where the memory was wanted; NULL when that isn't known. */
static const struct frame_name *place_of(const struct heap_gathering *g,
					 const struct site *site,
					 struct frame *frame_ret)
{
	const struct frame_name *name =
		heap_caller(g->config->stacks, g->config->namer,
			    g->config->wrappers, site, frame_ret);

	if (name)
		return name;
	if (!stacks_frames(g->config->stacks, site->stack, frame_ret, 1) ||
	    !namer_names(g->config->namer, frame_ret, &name))
		return NULL;
	return name;
}

static bool tells_lines(const struct heap_report_options *options)
{
	return options->by == HEAP_BY_LINE || options->by == HEAP_BY_SCRIPT;
}

/* The function, or its line. */
static void add_place(const struct heap_gathering *g, const struct site *site,
		      struct strbuf *out)
{
	struct frame frame;
	const struct frame_name *name = place_of(g, site, &frame);

	if (!name) {
		strbuf_puts(out, "?");
		return;
	}
	if (tells_lines(g->config->options) && name->file) {
		strbuf_printf(out, "%s:%u", name->file, name->line);
		return;
	}
	if (name->function)
		strbuf_puts(out, name->function);
	else
		strbuf_printf(out, "%#" PRIx64, frame.address);
	strbuf_puts(out, " in ");
	strbuf_puts(out, *frame.code->path ? file_base_name(frame.code->path) :
					     "(no library)");
}

static void set_place(const struct heap_gathering *g, const struct site *site,
		      struct heap_row *row)
{
	struct frame frame;
	const struct frame_name *name;

	row->has_size = site->function->family->has_size;
	if (row->place || g->config->options->by != HEAP_BY_LINE)
		return;
	name = place_of(g, site, &frame);
	row->place = name && name->file ? name : NULL;
}

static void add_component(const struct heap_gathering *g,
			  const struct site *site, struct strbuf *out)
{
	const char *name = heap_report_component(g->config, site->component);

	strbuf_puts(out, name ? name : "(other)");
}

static void add_name(const struct heap_gathering *g, const struct site *site,
		     struct strbuf *out)
{
	switch (g->config->options->by) {
	case HEAP_BY_FUNCTION:
	case HEAP_BY_LINE:
		add_place(g, site, out);
		break;
	case HEAP_BY_LIBRARY:
		add_library(site, out);
		break;
	case HEAP_BY_COMPONENT:
		add_component(g, site, out);
		break;
	case HEAP_BY_STACK:
	case HEAP_BY_THREAD:
	case HEAP_BY_SIZE:
	case HEAP_BY_SCRIPT:
		break;
	}
	/* What is held of several families can't be added up. */
	if (site->function->family->index)
		strbuf_printf(out, " (%s)", site->function->family->name);
}

/* ---- rows of sites ---- */

static void add_to(struct heap_sum *sum, const struct site *site,
		   const struct survey_site *ages)
{
	if (site->function->family->has_size) {
		sum->sites += ages->blocks != 0;
		sum->blocks += ages->blocks;
		sum->bytes += ages->bytes;
	} else {
		sum->other_sites += ages->blocks != 0;
		sum->others += ages->blocks;
	}
}

static void judge(struct heap_gathering *g, struct heap_row *row,
		  const struct site *site, const struct survey_site *ages)
{
	const struct verdict *verdict = verdicts_site(g->verdicts, site);
	struct heap_sum *sum = &g->result->levels[verdict->level];

	add_to(sum, site, ages);
	if (verdict->level == VERDICT_LIKELY && ages->blocks &&
	    verdict->reason != VERDICT_UNREACHABLE)
		g->result->likely_by_growth = true;
	if (site->function->family->has_size) {
		sum->leaked_blocks += verdict->leaked_blocks;
		sum->leaked_bytes += verdict->leaked_bytes;
	}
	if (verdict->reach) {
		sum->lost_blocks += verdict->reach->lost_blocks;
		sum->lost_bytes += verdict->reach->lost_bytes;
	}
	if (row->site == site || verdict->level > row->verdict->level)
		row->verdict = verdict;
}

static void add_to_own(struct heap_row_own *own, const struct site *site,
		       const struct survey_site *ages)
{
	estimates_add_site(&own->estimates, site, ages);
	log_histogram_merge(&own->ages, &ages->ages);
	log_histogram_merge(&own->lifetimes, &site->lifetimes);
	log_histogram_merge(&own->times, &site->times);
	log_histogram_merge(&own->sizes, &site->sizes);
}

static struct heap_row *row_with(struct heap_gathering *g,
				 const struct site *site,
				 const struct survey_site *ages)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct heap_row *row;

	if (g->config->options->by == HEAP_BY_STACK)
		return row_of_site(g, site, ages);
	add_name(g, site, &name);
	row = row_named(g, strbuf_text(&name));
	add_to_own(row->own, site, ages);
	return row;
}

static void add_site(struct heap_gathering *g, const struct site *site)
{
	const struct survey_site *ages = survey_site(g->survey, site);
	struct heap_row *row;

	if (site->suppression)
		return;
	row = row_with(g, site, ages);
	set_place(g, site, row);
	row->is_of_sites = true;
	row->blocks += ages->blocks;
	row->bytes += ages->bytes;
	row->alloc_blocks += site->alloc_blocks;
	row->alloc_bytes += site->alloc_bytes;
	row->freed_blocks += site->freed_blocks;
	row->freed_bytes += site->freed_bytes;
	row->temporary_blocks += site->temporary.blocks;
	row->lifetime_ns += site->lifetime_ns;
	row->total_ns += site->total_ns;
	/* With --older-than, younger ones are no part of the row. */
	if (ages->blocks && ages->oldest > row->oldest)
		row->oldest = ages->oldest;
	judge(g, row, site, ages);
}

static void add_all_suppressed(struct heap_gathering *g)
{
	struct suppressions *all = g->config->suppressions;
	struct heap_sum *sums;

	if (!all)
		return;
	sums = xcalloc(suppressions_count(all) + 1, sizeof(*sums));
	for (size_t i = 1; i <= heap_site_count(g->heap); i++) {
		const struct site *site = heap_site(g->heap, i);
		const struct survey_site *ages = survey_site(g->survey, site);

		if (!site->suppression)
			continue;
		add_to(&sums[0], site, ages);
		add_to(&sums[site->suppression], site, ages);
	}
	g->result->suppressed = sums;
}

/* ---- rows of blocks ---- */

/* Powers of two, as in the histogram of sizes. */
static uint64_t size_class(uint64_t size)
{
	uint64_t top = 16;

	while (top < size && top <= UINT64_MAX / 2)
		top *= 2;
	return top;
}

static void add_thread(const struct heap *heap, pid_t tid, struct strbuf *out)
{
	const char *name = heap_thread_name(heap, tid);

	strbuf_printf(out, "thread %d", (int)tid);
	if (*name)
		strbuf_printf(out, " (%s)", name);
}

/* "test.rb:11:String" */
static void add_object(const struct heap_gathering *g,
		       const struct heap_block *block, struct strbuf *out)
{
	const struct heap_look *look = heap_looked(g->heap);
	const char *type = look ? heap_look_type(look, block->handle) : NULL;

	add_place(g, block->site, out);
	if (look && heap_look_is_typed(look))
		strbuf_printf(out, ":%s", type ? type : "?");
}

static void add_block_name(const struct heap_gathering *g,
			   const struct heap_block *block, struct strbuf *out)
{
	if (g->config->options->by == HEAP_BY_SIZE)
		strbuf_printf(out, "up to %" PRIu64 " bytes",
			      size_class(block->size));
	else if (g->config->options->by == HEAP_BY_SCRIPT)
		add_object(g, block, out);
	else if (block->tid)
		add_thread(g->heap, block->tid, out);
	else
		strbuf_puts(out, "(other threads)");
}

static void add_block(struct heap_gathering *g, const struct heap_block *block)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	uint64_t age = g->now > block->birth ? g->now - block->birth : 0;
	struct heap_row *row;

	if (age < g->config->options->older_than || block->site->suppression ||
	    !block->site->function->family->has_size)
		return;
	add_block_name(g, block, &name);
	row = row_named(g, strbuf_text(&name));
	estimates_add_block(&row->own->estimates, block);
	row->blocks += block->weight.count;
	row->bytes += block->weight.count * block->size;
	if (age > row->oldest)
		row->oldest = age;
	log_histogram_add_many(&row->own->ages, age, block->weight.count);
	log_histogram_add_many(&row->own->sizes,
			       block->size ? block->size - 1 : 0,
			       block->weight.count);
}

static void add_blocks(struct heap_gathering *g)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(g->heap, &walk, &block))
		add_block(g, &block);
}

/* ---- the order ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_order(const struct heap_row *a, const struct heap_row *b,
		    enum heap_order order)
{
	int result = 0;

	switch (order) {
	case HEAP_ORDER_BYTES:
		break;
	case HEAP_ORDER_BLOCKS:
		result = compare(a->blocks, b->blocks);
		break;
	case HEAP_ORDER_RATE:
		result = compare(a->alloc_blocks, b->alloc_blocks);
		break;
	case HEAP_ORDER_AGE:
		result = compare(a->oldest, b->oldest);
		break;
	}
	if (!result)
		result = compare(a->bytes, b->bytes);
	return result ? result : compare(b->key, a->key);
}

static bool is_of_handles(const struct heap_row *row)
{
	return row->is_of_sites && !row->has_size;
}

/* What only grows may be a cache. */
static bool is_lost(const struct heap_row *row)
{
	return row->verdict->reason == VERDICT_UNREACHABLE;
}

static int compare_rows(const void *a, const void *b, void *order)
{
	const struct heap_row *x = *(struct heap_row *const *)a;
	const struct heap_row *y = *(struct heap_row *const *)b;
	int result = compare(x->verdict->level, y->verdict->level);

	/* A lost handle has no size, and holds who knows what. */
	if (!result && x->verdict->level != VERDICT_NOT)
		result = compare(is_of_handles(x), is_of_handles(y));
	if (!result)
		result = compare(is_lost(x), is_lost(y));
	/* Of those, what holds others comes in the smallest number. */
	if (!result && is_of_handles(x) && is_of_handles(y))
		result = compare(y->blocks, x->blocks);
	return result ? result : by_order(x, y, *(enum heap_order *)order);
}

static void sort(struct heap_gathering *g)
{
	enum heap_order order = g->config->options->order;
	struct heap_rows *result = g->result;

	if (result->count)
		qsort_r(result->list, result->count, sizeof(*result->list),
			compare_rows, &order);
}

struct heap_rows heap_rows_of(const struct heap_report_config *config,
			      const struct heap *heap, uint64_t now)
{
	const enum heap_by by = config->options->by;
	struct heap_rows result = { 0 };
	struct survey *survey =
		survey_new(heap, now, config->options->older_than);
	struct verdicts *verdicts = verdicts_of(heap, survey);
	struct heap_gathering g = { .config = config,
				    .heap = heap,
				    .survey = survey,
				    .verdicts = verdicts,
				    .now = now,
				    .result = &result };

	if (by == HEAP_BY_FUNCTION || tells_lines(config->options))
		heap_names_prepare_all(config, heap, HEAP_CALLER_DEPTH);
	if (heap_rows_are_of_blocks(config->options))
		add_blocks(&g);
	else
		for (size_t i = 1; i <= heap_site_count(heap); i++)
			add_site(&g, heap_site(heap, i));
	add_all_suppressed(&g);
	HASH_CLEAR(hh, g.named);
	sort(&g);
	heap_leaks_gather(config, &result);
	result.survey = survey;
	result.verdicts = verdicts;
	return result;
}

static void free_own(struct heap_row_own *own)
{
	if (!own)
		return;
	log_histogram_fini(&own->ages);
	log_histogram_fini(&own->sizes);
	log_histogram_fini(&own->lifetimes);
	log_histogram_fini(&own->times);
	free(own->name);
	free(own);
}

void heap_rows_fini(struct heap_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free_own(rows->list[i]->own);
		free(rows->list[i]);
	}
	free(rows->list);
	free(rows->suppressed);
	verdicts_free(rows->verdicts);
	survey_free(rows->survey);
}

struct estimates heap_row_estimates(const struct heap_rows *rows,
				    const struct heap_row *row)
{
	struct estimates sum = { 0 };

	if (row->own)
		return row->own->estimates;
	estimates_add_site(&sum, row->site,
			   survey_site(rows->survey, row->site));
	return sum;
}
