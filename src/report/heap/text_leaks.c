/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/elsewhere.h"
#include "report/heap/suppressions.h"
#include "report/heap/text.h"

/* Sites that keep some and give many back hold more than they leak. */
static void add_leaked(const struct heap_text *text, const struct heap_sum *sum)
{
	struct strbuf *out = heap_text_out(text);

	if (!sum->leaked_blocks || sum->leaked_blocks >= sum->blocks)
		return;
	strbuf_puts(out, ", of which about ");
	amounts_add_held(out, sum->leaked_bytes, sum->leaked_blocks);
	strbuf_puts(out, " leaked");
}

void heap_text_sum(const struct heap_text *text, const struct heap_sum *sum)
{
	struct strbuf *out = heap_text_out(text);

	amounts_add_held(out, sum->bytes, sum->blocks);
	strbuf_puts(out, " at ");
	amounts_add_count(out, sum->sites, "site");
	if (sum->others) {
		strbuf_puts(out, "; ");
		amounts_add_count(out, sum->others, "other");
		strbuf_puts(out, " at ");
		amounts_add_count(out, sum->other_sites, "site");
	}
	add_leaked(text, sum);
}

static int add_sum(const struct heap_text *text, const struct heap_sum *sum)
{
	strbuf_puts(heap_text_out(text), ": ");
	heap_text_sum(text, sum);
	return heap_text_end_line(text);
}

int heap_text_levels(const struct heap_text *text,
		     const struct heap_sum *levels)
{
	static const char *const names[] = {
		[VERDICT_NOT] = "no leak",
		[VERDICT_POSSIBLE] = "possible",
		[VERDICT_LIKELY] = "likely",
	};
	int err = 0;

	for (int level = VERDICT_LIKELY; !err && level >= VERDICT_NOT;
	     level--) {
		strbuf_puts(heap_text_out(text), names[level]);
		err = add_sum(text, &levels[level]);
	}
	return err;
}

/* How much each line of the files keeps back; those that do nothing may be
   mistaken, and are counted. */
static int add_suppressed(const struct heap_text *text,
			  const struct heap_rows *rows)
{
	const struct suppressions *all = text->config->suppressions;
	struct strbuf *out = heap_text_out(text);
	uint64_t idle = 0;
	int err;

	strbuf_puts(out, "suppressed");
	err = add_sum(text, &rows->suppressed[0]);
	for (size_t i = 1; !err && i <= suppressions_count(all); i++) {
		const struct heap_sum *sum = &rows->suppressed[i];

		if (!sum->blocks && !sum->others) {
			idle++;
			continue;
		}
		strbuf_puts(out, "    ");
		names_escape(out, suppressions_text(all, i));
		err = add_sum(text, sum);
	}
	if (err || !idle)
		return err;
	strbuf_puts(out, "    ");
	amounts_add_count(out, idle, "suppression");
	strbuf_puts(out, " for which nothing is held");
	return heap_text_end_line(text);
}

/* Leaks of some bytes in a process that grows by millions aren't all. */
static int add_elsewhere(const struct heap_text *text,
			 const struct heap_rows *rows)
{
	struct strbuf *out = heap_text_out(text);
	struct elsewhere elsewhere;

	if (!heap_grows_elsewhere(text->config, text->process, rows->survey,
				  text->now, &elsewhere))
		return 0;
	strbuf_puts(out, "elsewhere: RSS grows by ");
	amounts_add_number(out, elsewhere.resident);
	strbuf_puts(out, " bytes a second, what is held by ");
	amounts_add_number(out, elsewhere.held);
	strbuf_puts(out, "; calltrap heap --growth faults shows where from");
	return heap_text_end_line(text);
}

/* What verdicts rest upon beside numbers and ages. */
static int add_reach(const struct heap_text *text)
{
	const struct heap_reach *reach = heap_reach(text->process->heap);
	struct strbuf *out;
	int err;

	if (!reach)
		return 0;
	strbuf_puts(heap_text_out(text), "---- REACH");
	err = heap_text_end_line(text);
	if (err)
		return err;
	out = heap_text_out(text);
	if (reach->why_not) {
		strbuf_puts(out, "what can still be reached isn't known: ");
		names_escape(out, reach->why_not);
		return heap_text_end_line(text);
	}
	strbuf_puts(out, "can't be reached any more: ");
	amounts_add_held(out, reach->all.lost_bytes, reach->all.lost_blocks);
	strbuf_puts(out, " of ");
	amounts_add_number(out, reach->all.blocks);
	strbuf_puts(out, " looked at; ");
	if (reach->gone) {
		amounts_add_number(out, reach->gone);
		strbuf_puts(out, reach->gone == 1 ? " was gone by then; " :
						    " were gone by then; ");
	}
	strbuf_puts(out, reach->copied ?
				 "it stood still until it was copied, " :
				 "it stood still meanwhile, ");
	amounts_add_duration(out, reach->pause_ns);
	return heap_text_end_line(text);
}

int heap_text_leaks(const struct heap_text *text, const struct heap_rows *rows)
{
	bool has_levels = heap_rows_have_levels(text->config->options);
	int err = 0;

	if (has_levels || rows->suppressed) {
		strbuf_puts(heap_text_out(text), "---- LEAK SUMMARY");
		err = heap_text_end_line(text);
	}
	if (!err && has_levels)
		err = heap_text_levels(text, rows->levels);
	if (!err && has_levels)
		err = add_elsewhere(text, rows);
	if (!err && has_levels)
		err = heap_text_notes(text, rows);
	if (!err && rows->suppressed)
		err = add_suppressed(text, rows);
	if (!err)
		err = heap_text_untyped(text);
	return err || !has_levels ? err : add_reach(text);
}
