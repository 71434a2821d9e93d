/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/view.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/clock.h"
#include "heap/verdict.h"
#include "report/format/amounts.h"

/* Title, four numbers, the verdict, and the columns' heading; below the rows
   a message and the keys. */
#define HEAD 7
#define FOOT 2

#define SPARK_AT    56
#define SPARK_WIDTH 32

unsigned view_page(unsigned rows)
{
	return rows > HEAD + FOOT ? rows - HEAD - FOOT : 1;
}

/* ---- texts that fit ---- */

/*
 * Adds as much of a text as has room in so many columns. A character that has
 * no width of its own may change how others are shown, and is none that a
 * function's name needs.
 */
static unsigned add_fitting(struct strbuf *out, const char *text,
			    unsigned columns)
{
	mbstate_t state = { 0 };
	unsigned used = 0;

	while (*text) {
		wchar_t c;
		size_t length = mbrtowc(&c, text, MB_LEN_MAX, &state);
		int width;

		if (length == (size_t)-1 || length == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			length = 1;
			c = 0;
		}
		width = c ? wcwidth(c) : 0;
		if (used + (width > 0 ? width : 1) > columns)
			break;
		if (width > 0)
			strbuf_add(out, text, length);
		else
			strbuf_putc(out, '?');
		used += width > 0 ? width : 1;
		text += length;
	}
	return used;
}

static void set(struct line *line, enum line_style style, const char *text,
		unsigned columns)
{
	line->style = style;
	strbuf_clear(&line->text);
	add_fitting(&line->text, text, columns);
}

static void pad_to(struct strbuf *text, unsigned column)
{
	strbuf_pad(text, column);
}

/* ---- the head ---- */

static const char *const marks_of[2][8] = {
	{ "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
	{ "_", ".", ",", "-", "=", "+", "*", "#" },
};

/* From the least to the most of them; what hardly changes is flat. */
static void add_spark(const struct view *view, const struct live_spark *spark,
		      unsigned width, struct strbuf *out)
{
	unsigned first = spark->count > width ? spark->count - width : 0;
	float least = spark->points[first], most = least;

	for (unsigned i = first; i < spark->count; i++) {
		if (spark->points[i] < least)
			least = spark->points[i];
		if (spark->points[i] > most)
			most = spark->points[i];
	}
	if (most - least < most / 100)
		most = least;
	for (unsigned i = first; i < spark->count; i++) {
		unsigned level = most > least ?
					 7.99f * (spark->points[i] - least) /
						 (most - least) :
					 0;

		strbuf_puts(out, marks_of[view->narrow][level & 7]);
	}
}

/* Two neighbours become one until all have room. */
static struct live_spark squeezed(const struct live_spark *spark,
				  unsigned width)
{
	struct live_spark ret = *spark;

	while (width && ret.count > width) {
		for (unsigned i = 0; i < ret.count / 2; i++)
			ret.points[i] =
				(ret.points[2 * i] + ret.points[2 * i + 1]) / 2;
		if (ret.count % 2)
			ret.points[ret.count / 2] = ret.points[ret.count - 1];
		ret.count = (ret.count + 1) / 2;
	}
	return ret;
}

static void add_signed_size(struct strbuf *out, int64_t bytes)
{
	if (bytes)
		strbuf_putc(out, bytes < 0 ? '-' : '+');
	amounts_add_size(out, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes);
}

static void add_resident(const struct live_picture *p, struct strbuf *out)
{
	strbuf_puts(out, "RSS       ");
	amounts_add_size(out, p->resident);
	strbuf_puts(out, ", ");
	add_signed_size(out, p->resident - p->first_resident);
	strbuf_puts(out, " since the start");
}

static void add_held(const struct live_picture *p, struct strbuf *out)
{
	strbuf_puts(out, "held      ");
	amounts_add_size(out, p->bytes);
	strbuf_puts(out, " in ");
	amounts_add_number(out, p->blocks);
	strbuf_puts(out, " blocks made since then");
}

static void add_rate(const struct live_picture *p, struct strbuf *out)
{
	strbuf_puts(out, "acquired  ");
	amounts_add_size(out, p->rate);
	strbuf_puts(out, "/s; ");
	amounts_add_number(out, p->calls);
	strbuf_puts(out, " calls/s of allocators");
}

static void add_cost(const struct live_picture *p, struct strbuf *out)
{
	strbuf_printf(out, "slowed    %.1f %% by being watched; ",
		      100 * p->still);
	amounts_add_number(out, p->stops);
	strbuf_puts(out, " stops/s");
}

/* Whoever depends on the process should know. */
static enum line_style style_of_cost(const struct live_picture *p)
{
	return p->still >= 0.5 ? LINE_LIKELY :
	       p->still >= 0.2 ? LINE_POSSIBLE :
				 LINE_PLAIN;
}

static const struct head_line {
	void (*add)(const struct live_picture *picture, struct strbuf *out);
	size_t spark;
} head_lines[] = {
	{ add_resident, offsetof(struct live_picture, resident_spark) },
	{ add_held, offsetof(struct live_picture, bytes_spark) },
	{ add_rate, offsetof(struct live_picture, rate_spark) },
	{ add_cost, offsetof(struct live_picture, still_spark) },
};

static void add_sites(struct strbuf *out, uint64_t sites, const char *level,
		      uint64_t bytes)
{
	amounts_add_count(out, sites, "site");
	strbuf_printf(out, " %s (", level);
	amounts_add_size(out, bytes);
	strbuf_putc(out, ')');
}

static enum line_style add_verdict(const struct live_picture *p,
				   struct strbuf *out)
{
	strbuf_puts(out, "leaks     ");
	if (p->judged < 0)
		strbuf_puts(out, "nothing is known yet");
	else if (!p->likely && !p->possible)
		strbuf_puts(out, "none seen so far");
	if (p->likely)
		add_sites(out, p->likely, "LIKELY", p->likely_bytes);
	if (p->likely && p->possible)
		strbuf_puts(out, ", ");
	if (p->possible)
		add_sites(out, p->possible, "POSSIBLE", p->possible_bytes);
	if (p->judged >= 10) {
		strbuf_puts(out, ", ");
		strbuf_add_duration(out, p->judged * NS_PER_SECOND);
		strbuf_puts(out, " ago");
	}
	return p->likely   ? LINE_LIKELY :
	       p->possible ? LINE_POSSIBLE :
			     LINE_PLAIN;
}

static void add_title(const struct view *view, const struct live_picture *p,
		      struct strbuf *out)
{
	strbuf_printf(out, "calltrap top: %s, watched for ", p->what);
	strbuf_add_duration(out, p->watched);
	if (p->is_marked) {
		strbuf_puts(out, ", marked ");
		strbuf_add_duration(out, p->marked);
		strbuf_puts(out, " ago");
	}
	if (view->paused)
		strbuf_puts(out, " - PAUSED");
}

static const char *const names_of_by[] = {
	[LIVE_BY_SITE] = "SITE",
	[LIVE_BY_LIBRARY] = "LIBRARY",
	[LIVE_BY_THREAD] = "THREAD",
	[LIVE_BY_FAMILY] = "FAMILY",
};

static const char *const names_of_orders[] = {
	[LIVE_ORDER_VERDICT] = "verdict", [LIVE_ORDER_HELD] = "held",
	[LIVE_ORDER_CHANGE] = "change",   [LIVE_ORDER_RATE] = "rate",
	[LIVE_ORDER_AGE] = "age",
};

/* "*" stands at what the rows are sorted by. */
static void add_columns(const struct view *view, const struct live_picture *p,
			struct strbuf *out)
{
	const enum live_order order = p->order;

	strbuf_printf(out, "%9s %10s %9s %5s %-8s  %s",
		      order == LIVE_ORDER_HELD ? "HELD*" : "HELD",
		      order == LIVE_ORDER_CHANGE ? "CHANGE*" : "CHANGE",
		      order == LIVE_ORDER_RATE ? "RATE/s*" : "RATE/s",
		      order == LIVE_ORDER_AGE ? "AGE*" : "AGE",
		      order == LIVE_ORDER_VERDICT ? "VERDICT*" : "VERDICT",
		      names_of_by[p->by]);
	if (p->all > p->count)
		strbuf_printf(out, " (the first %zu of %zu)", p->count, p->all);
	if (view->filter[0])
		strbuf_printf(out, " with \"%s\"", view->filter);
}

/* ---- rows ---- */

/* "12s", "5m", "3h", "2d" */
static void add_age(struct strbuf *out, uint64_t age)
{
	uint64_t seconds = age / NS_PER_SECOND;
	char text[32];

	if (!age)
		snprintf(text, sizeof(text), "-");
	else if (seconds < 120)
		snprintf(text, sizeof(text), "%" PRIu64 "s", seconds);
	else if (seconds < 120 * 60)
		snprintf(text, sizeof(text), "%" PRIu64 "m", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(text, sizeof(text), "%" PRIu64 "h", seconds / 3600);
	else
		snprintf(text, sizeof(text), "%" PRIu64 "d", seconds / 86400);
	strbuf_printf(out, "%5s", text);
}

static void add_right(struct strbuf *out, struct strbuf *text, unsigned width)
{
	strbuf_printf(out, "%*s ", (int)width, strbuf_text(text));
	strbuf_clear(text);
}

static void add_row(const struct live_row *row, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (row->has_size)
		amounts_add_size(&text, row->bytes);
	else
		amounts_add_number(&text, row->blocks);
	add_right(out, &text, 9);
	if (row->has_size)
		add_signed_size(&text, row->change);
	else
		strbuf_printf(&text, "%+" PRId64, row->change);
	add_right(out, &text, 10);
	if (row->rate >= 0.5 && row->has_size)
		amounts_add_size(&text, row->rate);
	else
		strbuf_puts(&text, "-");
	add_right(out, &text, 9);
	add_age(out, row->oldest);
	strbuf_printf(out, " %-8s  %s",
		      row->has_level ? row->level == VERDICT_NOT ?
				       "ok" :
				       verdict_name(row->level) :
				       "-",
		      row->name);
}

static enum line_style style_of(const struct live_row *row)
{
	return row->level == VERDICT_LIKELY   ? LINE_LIKELY :
	       row->level == VERDICT_POSSIBLE ? LINE_POSSIBLE :
						LINE_PLAIN;
}

/* ---- the screen ---- */

struct screen_page {
	const struct view *view;
	const struct live_picture *picture;
	struct line *lines;
	unsigned at, end, columns;
};

static void put(struct screen_page *page, enum line_style style,
		const char *text)
{
	if (page->at < page->end)
		set(&page->lines[page->at++], style, text, page->columns);
}

static void put_head(struct screen_page *page)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	enum line_style style;

	add_title(page->view, page->picture, &text);
	put(page, LINE_TITLE, strbuf_text(&text));
	for (size_t i = 0; i < ARRAY_SIZE(head_lines); i++) {
		const struct live_spark *spark =
			(const void *)((const char *)page->picture +
				       head_lines[i].spark);
		unsigned room =
			page->columns > SPARK_AT ? page->columns - SPARK_AT : 0;
		struct live_spark fits = squeezed(spark, room < SPARK_WIDTH ?
								 room :
								 SPARK_WIDTH);

		strbuf_clear(&text);
		head_lines[i].add(page->picture, &text);
		if (room && text.length < SPARK_AT) {
			pad_to(&text, SPARK_AT);
			add_spark(page->view, &fits, fits.count, &text);
		}
		put(page,
		    head_lines[i].add == add_cost ?
			    style_of_cost(page->picture) :
			    LINE_PLAIN,
		    strbuf_text(&text));
	}
	strbuf_clear(&text);
	style = add_verdict(page->picture, &text);
	put(page, style, strbuf_text(&text));
	strbuf_clear(&text);
	add_columns(page->view, page->picture, &text);
	put(page, LINE_HEADING, strbuf_text(&text));
}

/* Where a line that is too long may go on in the next one. */
static size_t break_of(const char *text, size_t length, unsigned columns)
{
	size_t at = columns;

	if (length <= columns)
		return length;
	while (at > columns / 2 && text[at] != ' ')
		at--;
	return text[at] == ' ' ? at : length;
}

static void put_stack(struct screen_page *page, const char *stack)
{
	while (*stack) {
		size_t length = strcspn(stack, "\n");
		unsigned room = page->columns;

		for (size_t end; length; room = page->columns - 4) {
			CLEANUP(strbuf_fini) struct strbuf text = { 0 };

			if (room < page->columns)
				strbuf_puts(&text, "   ");
			end = break_of(stack, length,
				       page->columns > 20 ? room : 4096);
			strbuf_add(&text, stack, end);
			put(page, LINE_FAINT, strbuf_text(&text));
			stack += end;
			length -= end;
		}
		stack += *stack == '\n';
	}
}

static void put_row(struct screen_page *page, const struct live_row *row,
		    bool selected, const struct live_picture *stack)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	unsigned at = page->at;

	add_row(row, &text);
	put(page, style_of(row), strbuf_text(&text));
	if (at < page->at)
		page->lines[at].selected = selected;
	if (stack->stack_of == row->key)
		put_stack(page, stack->stack);
}

/* Among those that the filter lets through. */
static size_t place_of_selected(const struct view *view,
				const struct live_picture *picture,
				bool *found_ret)
{
	size_t place = 0;

	for (size_t i = 0; i < picture->count; i++) {
		if (!view_shows(view, &picture->rows[i]))
			continue;
		*found_ret = picture->rows[i].key == view->selected;
		if (*found_ret)
			return place;
		place++;
	}
	return 0;
}

static void put_rows(struct screen_page *page, struct view *view,
		     const struct live_picture *stack)
{
	unsigned room = page->end - page->at;
	bool found = false;
	size_t selected = place_of_selected(view, page->picture, &found);
	size_t place = 0;

	if (selected < view->first)
		view->first = selected;
	if (room && selected >= view->first + room)
		view->first = selected - room + 1;
	/* A stack below the selected row has room, too. */
	if (found && stack->stack_of == view->selected &&
	    selected > view->first + room / 3)
		view->first = selected - room / 3;
	for (size_t i = 0; i < page->picture->count; i++) {
		const struct live_row *row = &page->picture->rows[i];

		if (!view_shows(view, row) || place++ < view->first)
			continue;
		put_row(page, row, place - 1 == selected, stack);
	}
	if (!place)
		put(page, LINE_FAINT,
		    view->filter[0] ?
			    "  no name has this text (Esc shows all)" :
			    "  nothing has been acquired yet");
}

static const char *const help[] = {
	"  up, down, PgUp, PgDn, Home, End   choose a row",
	"  Enter, space    unfold it: why that verdict, and its stack",
	"  s   sort by the next column: verdict, held, change, rate, age (*)",
	"  g   rows are sites, libraries, threads, families of functions",
	"  /   only rows whose name has a text; Esc: all",
	"  m   set the mark: changes count from then on",
	"  p   pause the screen; what is watched goes on",
	"  w   write a file now: text, JSON, pprof, or a page for a browser",
	"  q   leave: the process goes on, as it was",
	"  HELD    acquired since watching began, and not given back",
	"  CHANGE  of that, since the start or since the mark",
	"  RATE/s  acquired a second, no matter what is given back",
	"  AGE     of the oldest block",
	"  VERDICT LIKELY and POSSIBLE leaks; unfold a row to see why",
	"  slowed  the thread that watching slows most; less is better",
};

static const char keys_of_rows[] =
	"h help  q quit  s sort  g group  / filter  Enter stack  p pause  "
	"m mark  w write";

static void put_foot(struct screen_page *page, unsigned rows)
{
	const struct view *view = page->view;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	page->at = page->end;
	page->end = rows;
	put(page, LINE_PLAIN, view->message);
	switch (view->mode) {
	case VIEW_ROWS:
		put(page, LINE_KEYS, keys_of_rows);
		break;
	case VIEW_HELP:
		put(page, LINE_KEYS, "any key leads back");
		break;
	case VIEW_FILTERS:
		strbuf_printf(&text,
			      "filter: %s_   (Enter keeps it, Esc shows "
			      "all)",
			      view->filter);
		put(page, LINE_KEYS, strbuf_text(&text));
		break;
	case VIEW_SAVES:
		put(page, LINE_KEYS,
		    "write: t text, j JSON, p pprof, h HTML "
		    "page; any other key: nothing");
		break;
	}
}

void view_lines(struct view *view, const struct live_picture *picture,
		const struct live_picture *stack, unsigned rows,
		unsigned columns, struct line *ret)
{
	struct screen_page page = {
		.view = view,
		.picture = picture,
		.lines = ret,
		.end = rows > FOOT ? rows - FOOT : rows,
		.columns = columns,
	};

	put_head(&page);
	if (view->mode == VIEW_HELP) {
		for (size_t i = 0; i < ARRAY_SIZE(help); i++)
			put(&page, LINE_PLAIN, help[i]);
	} else {
		put_rows(&page, view, stack);
	}
	if (rows > FOOT)
		put_foot(&page, rows);
}

void view_print(const struct view *view, const struct live_picture *picture,
		unsigned rows, struct strbuf *out)
{
	size_t printed = 0;

	add_title(view, picture, out);
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(head_lines); i++) {
		head_lines[i].add(picture, out);
		strbuf_putc(out, '\n');
	}
	add_verdict(picture, out);
	strbuf_putc(out, '\n');
	add_columns(view, picture, out);
	strbuf_printf(out, ", by %s\n", names_of_orders[picture->order]);
	for (size_t i = 0; i < picture->count; i++) {
		if (rows && printed == rows)
			break;
		if (!view_shows(view, &picture->rows[i]))
			continue;
		add_row(&picture->rows[i], out);
		strbuf_putc(out, '\n');
		printed++;
	}
}
