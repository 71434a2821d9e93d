/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

#include "base/clock.h"
#include "heap/forecast.h"
#include "report/format/amounts.h"
#include "report/heap/elsewhere.h"
#include "report/heap/text.h"

/*
 * The first screen, for somebody who was woken by this: is it leaking, how
 * fast, since when and where, when will that end, how sure is that, what was
 * not seen, what to type next. All else comes below.
 */
#define PLACES 3

struct answer {
	const struct heap_text *text;
	const struct heap_rows *rows;
	enum verdict_level level; /* the worst of which there is something */
	bool is_elsewhere;        /* what grows isn't what is held */
	struct elsewhere elsewhere;
};

static bool holds(const struct heap_sum *sum)
{
	return sum->blocks || sum->others;
}

static struct answer answer_of(const struct heap_text *text,
			       const struct heap_rows *rows)
{
	struct answer answer = { .text = text, .rows = rows };

	answer.level = holds(&rows->levels[VERDICT_LIKELY]) ? VERDICT_LIKELY :
		       holds(&rows->levels[VERDICT_POSSIBLE]) ?
							      VERDICT_POSSIBLE :
							      VERDICT_NOT;
	answer.is_elsewhere = heap_grows_elsewhere(text->config, text->process,
						   rows->survey, text->now,
						   &answer.elsewhere);
	return answer;
}

/* The next row to be told of, from *at on; NULL: that was all. */
static const struct heap_row *next_place(const struct answer *answer,
					 size_t *at)
{
	while (answer->level != VERDICT_NOT && *at < answer->rows->count) {
		const struct heap_row *row = answer->rows->list[(*at)++];

		if (row->verdict->level == answer->level && row->blocks &&
		    !row->is_part)
			return row;
	}
	return NULL;
}

static const struct heap_row *first_place(const struct answer *answer)
{
	size_t at = 0;

	return next_place(answer, &at);
}

/* Bytes a second; 0: of what has no size, or doesn't grow. */
static struct rise rise_of_row(const struct heap_text *text,
			       const struct heap_row *row)
{
	if (!row->site || !row->has_size)
		return (struct rise){ 0 };
	return rise_of(&row->site->history, text->now - text->process->start);
}

/* ---- is it leaking ---- */

/* Of all places, with those that aren't told of and parts of leaks. */
static double speed_of(const struct answer *answer)
{
	double speed = 0;

	for (size_t i = 0; i < answer->rows->count; i++) {
		const struct heap_row *row = answer->rows->list[i];
		double slope;

		if (row->verdict->level != answer->level || !row->blocks)
			continue;
		slope = rise_of_row(answer->text, row).trend.slope;
		speed += slope > 0 ? slope : 0;
	}
	return speed;
}

/* That is sure, whatever else grows. */
static void add_lost_of(const struct heap_sum *sum, struct strbuf *out)
{
	if (!sum->lost_blocks)
		return;
	strbuf_puts(out, "; no pointer leads to ");
	if (sum->lost_blocks == sum->leaked_blocks) {
		strbuf_puts(out, "any of these");
		return;
	}
	amounts_add_held(out, sum->lost_bytes, sum->lost_blocks);
	strbuf_puts(out, " of these");
}

static void add_level(const struct answer *answer)
{
	struct strbuf *out = heap_text_out(answer->text);
	double speed = speed_of(answer);

	strbuf_puts(out, answer->level == VERDICT_LIKELY ? "likely: " :
							   "possible: ");
	heap_text_sum(answer->text, &answer->rows->levels[answer->level]);
	add_lost_of(&answer->rows->levels[answer->level], out);
	if (speed < 1)
		return;
	strbuf_puts(out, "; grows by ");
	amounts_add_number(out, speed);
	strbuf_puts(out, " bytes a second");
}

static int add_leak(const struct answer *answer)
{
	struct strbuf *out = heap_text_out(answer->text);

	strbuf_puts(out, "leak: ");
	if (answer->level != VERDICT_NOT)
		add_level(answer);
	else
		strbuf_puts(out, "none is seen");
	if (answer->is_elsewhere) {
		strbuf_puts(out, "; RSS grows by ");
		amounts_add_number(out, answer->elsewhere.resident);
		strbuf_puts(out, " bytes a second, and most of that is in no "
				 "block");
	}
	return heap_text_end_line(answer->text);
}

/* ---- where, how fast, since when ---- */

static void add_clock(const struct heap_text *text, uint64_t monotonic)
{
	time_t seconds =
		heap_report_wall(text->config, monotonic) / NS_PER_SECOND;
	struct tm local;
	char clock[16];

	if (localtime_r(&seconds, &local) &&
	    strftime(clock, sizeof(clock), "%H:%M:%S", &local))
		strbuf_puts(heap_text_out(text), clock);
}

/* What comes as soon as somebody looks has come before, too. */
#define SOON 10 /* part of the time watched */

static void add_since(const struct heap_text *text, const struct site *site)
{
	const struct watched *process = text->process;
	uint64_t watched = text->now - process->start;

	strbuf_puts(heap_text_out(text), ", since ");
	if (!process->complete &&
	    site->first_time < process->start + watched / SOON)
		strbuf_puts(heap_text_out(text), "before it was watched");
	else
		add_clock(text, site->first_time);
}

static void add_speed(const struct heap_text *text, const struct heap_row *row)
{
	struct strbuf *out = heap_text_out(text);
	struct rise rise = rise_of_row(text, row);

	if (rise.trend.slope >= 1) {
		strbuf_puts(out, rise.certain ? ", " : ", about ");
		amounts_add_number(out, rise.trend.slope);
		strbuf_puts(out, " bytes a second");
	}
	add_since(text, row->site);
}

static int add_place(const struct heap_text *text, const struct heap_row *row)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "    ");
	if (row->has_size) {
		amounts_add_held(out, row->bytes + row->part_bytes,
				 row->blocks + row->part_blocks);
	} else {
		amounts_add_number(out, row->blocks);
		strbuf_puts(out, " held");
	}
	if (row->site)
		add_speed(text, row);
	strbuf_puts(out, ": ");
	heap_text_what(text, row);
	if (row->site)
		strbuf_printf(out, " (stack %u)", (unsigned)row->site->number);
	return heap_text_end_line(text);
}

static int add_places(const struct answer *answer)
{
	const struct heap_row *row;
	size_t at = 0;
	int err = 0;

	for (unsigned i = 0; !err && i < PLACES; i++) {
		row = next_place(answer, &at);
		if (!row)
			break;
		err = add_place(answer->text, row);
	}
	return err;
}

/* ---- when it ends ---- */

/* What grows steadily: the process, or else a family. */
static const char *steady_rise(const struct heap_text *text, struct rise *ret)
{
	const struct families *families = text->config->families;

	*ret = heap_text_rise(text, NULL);
	if (ret->certain)
		return "RSS";
	for (size_t i = 0; i < families_count(families); i++) {
		const struct family *family = families_at(families, i);

		if (!family->has_size)
			continue;
		*ret = heap_text_rise(text, family);
		if (ret->certain)
			return family->name;
	}
	return NULL;
}

static int add_limit(const struct heap_text *text)
{
	struct strbuf *out = heap_text_out(text);
	struct rise rise;
	struct forecast forecast;
	struct heap_text_room room;
	const char *name = steady_rise(text, &rise);

	strbuf_puts(out, "limit: ");
	if (!name) {
		strbuf_puts(out, "nothing grows so steadily that it can be "
				 "told");
		return heap_text_end_line(text);
	}
	if (!heap_text_room(&text->process->vitals, &room)) {
		strbuf_puts(out, "how much memory there is was not seen");
	} else {
		forecast = forecast_of(&rise, room.bytes);
		heap_text_forecast(text, "", &room, &forecast);
		if (!forecast.certain)
			strbuf_puts(out, "far away");
	}
	strbuf_printf(out, ", as %s grows by ", name);
	amounts_add_number(out, rise.trend.slope);
	strbuf_puts(out, " bytes a second");
	return heap_text_end_line(text);
}

/* ---- how sure ---- */

static int add_sure(const struct answer *answer)
{
	const struct heap_row *row = first_place(answer);
	struct strbuf *out = heap_text_out(answer->text);

	strbuf_puts(out, "sure: ");
	if (!row) {
		strbuf_puts(out, "as far as ");
		amounts_add_duration(out, answer->text->now -
						  answer->text->process->start);
		strbuf_puts(out, " tell: what grows by the hour takes hours to "
				 "be seen");
	} else if (row->site) {
		verdict_explain(row->verdict, row->site, out);
	} else {
		strbuf_puts(out, "the stacks tell why (--by stack)");
	}
	if (row && answer->level == VERDICT_LIKELY &&
	    answer->rows->likely_by_growth)
		strbuf_puts(out, row->verdict->reason == VERDICT_UNREACHABLE ?
					 "; of what else grows, a cache that "
					 "fills looks the same" :
					 "; a cache that fills looks the "
					 "same");
	return heap_text_end_line(answer->text);
}

/* ---- what was not seen ---- */

/* Parts of a line: the first comes behind its name. */
static struct strbuf *begin_part(const struct heap_text *text, unsigned *parts)
{
	strbuf_puts(heap_text_out(text), (*parts)++ ? "; " : "not seen: ");
	return heap_text_out(text);
}

static void add_before(const struct heap_text *text, unsigned *parts)
{
	const struct watched *process = text->process;
	struct strbuf *out;

	if (process->complete)
		return;
	out = begin_part(text, parts);
	strbuf_puts(out, "what was acquired before");
	if (!process->samples)
		return;
	strbuf_puts(out, " (RSS ");
	amounts_add_size(out, process->first_vitals.resident_bytes);
	strbuf_putc(out, ')');
}

static void add_lost(const struct heap_text *text, unsigned *parts)
{
	const struct watched *process = text->process;
	uint64_t lost = watched_lost(process);

	if (lost)
		amounts_add_count(begin_part(text, parts), lost, "call");
	if (text->cost->refused)
		strbuf_puts(begin_part(text, parts),
			    "functions that can't be trapped (see the end)");
	if (process->lost_traps || process->uprobes)
		strbuf_puts(begin_part(text, parts),
			    "calls that other tools' uprobes caught");
	else if (process->blind_ns) {
		strbuf_puts(begin_part(text, parts), "calls of up to ");
		amounts_add_duration(heap_text_out(text), process->blind_ns);
	}
	if (heap_unkept(process->heap) || heap_off_time(process->heap))
		strbuf_puts(begin_part(text, parts),
			    "what came while counting was switched off");
	if (text->cost->stacks.broken)
		strbuf_puts(begin_part(text, parts), "the ends of some stacks");
}

static int add_unseen(const struct answer *answer)
{
	const struct heap_text *text = answer->text;
	unsigned parts = 0;

	add_before(text, &parts);
	add_lost(text, &parts);
	if (heap_sample(text->process->heap))
		strbuf_puts(begin_part(text, &parts),
			    "blocks that aren't among what is sampled");
	if (answer->rows->suppressed && holds(&answer->rows->suppressed[0]))
		strbuf_puts(begin_part(text, &parts), "what is suppressed");
	if (heap_text_has_python(text))
		strbuf_puts(begin_part(text, &parts),
			    "Python's small objects (see the note)");
	if (!parts)
		strbuf_puts(begin_part(text, &parts), "nothing is missing");
	return heap_text_end_line(text);
}

int heap_text_short(const struct heap_text *text, const struct heap_rows *rows)
{
	const struct answer answer = answer_of(text, rows);
	int err;

	strbuf_puts(heap_text_out(text), "---- IN SHORT");
	err = heap_text_end_line(text);
	if (!err)
		err = add_leak(&answer);
	if (!err)
		err = add_places(&answer);
	if (!err)
		err = add_limit(text);
	if (!err)
		err = add_sure(&answer);
	if (!err)
		err = add_unseen(&answer);
	return err ? err :
		     heap_text_next(text, first_place(&answer),
				    answer.is_elsewhere);
}
