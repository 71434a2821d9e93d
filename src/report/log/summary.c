/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "report/file/output.h"
#include "report/format/names.h"
#include "report/log/histogram.h"

/* All functions of one name. */
struct row {
	char *name;
	uint64_t calls;
	uint64_t errors;
	int64_t time;  /* nanoseconds, of those that have ended, by stops */
	uint64_t blur; /* by so much it may be off: see event_is_resolved() */
	/*
	 * Nanoseconds of those that were counted in the process. What stops
	 * cost isn't in these, so what is wrong in an estimate of that, as
	 * where processors are busy, is not to swallow them.
	 */
	uint64_t counted;
	/*
	 * Those that have not: how many, and the sum (modulo 2^64) of the
	 * times when they began. That is all it takes to know their time at
	 * the end, without a list of them.
	 */
	uint64_t running;
	uint64_t began;
	struct histogram durations; /* nanoseconds, of those that have ended */
	UT_hash_handle hh;
};

struct row_of_function {
	const struct function *function;
	struct row *row;
	UT_hash_handle hh;
};

struct summary {
	struct sink sink;
	bool quantiles;
	const struct dialect *dialect;
	bool first_thread;
	struct output output;
	struct names *names;
	struct row *rows;
	struct row_of_function *functions;
	uint64_t last_time;
};

static struct summary *summary_of(struct sink *sink)
{
	return (struct summary *)sink;
}

static struct row *find_row(struct summary *summary, const char *name)
{
	struct row *row;

	HASH_FIND_STR(summary->rows, name, row);
	if (row)
		return row;
	row = xcalloc(1, sizeof(*row));
	row->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, summary->rows, row->name, strlen(row->name), row);
	return row;
}

static struct row *row_of(struct summary *summary,
			  const struct function *function)
{
	struct row_of_function *entry;

	HASH_FIND_PTR(summary->functions, &function, entry);
	if (entry)
		return entry->row;
	entry = xcalloc(1, sizeof(*entry));
	entry->function = function;
	entry->row = find_row(summary, names_short(summary->names, function));
	HASH_ADD_PTR(summary->functions, function, entry);
	return entry->row;
}

static void begin_call(struct row *row, const struct event *event)
{
	row->calls++;
	row->running++;
	row->began += event->call->time;
}

static void end_call(const struct summary *summary, struct row *row,
		     const struct event *event)
{
	row->running--;
	if (event->kind == EVENT_ABANDON &&
	    !summary->dialect->counts_unfinished) {
		row->calls--;
		row->began -= event->call->time;
		return;
	}
	row->errors += event->kind == EVENT_RETURN && event->failed;
	row->began -= event->call->time;
	row->time += event_mean_duration(event);
	row->blur += event->cost.resolution_ns;
	if (summary->quantiles)
		histogram_add(&row->durations, event_duration(event));
}

static int summary_event(struct sink *sink, const struct event *event)
{
	struct summary *summary = summary_of(sink);

	if (dialect_hides(summary->dialect, summary->first_thread, event))
		return 0;
	if (event->time > summary->last_time)
		summary->last_time = event->time;
	if (event->kind == EVENT_CALL)
		begin_call(row_of(summary, event->call->function), event);
	else if (event->kind == EVENT_RETURN || event->kind == EVENT_ABANDON)
		end_call(summary, row_of(summary, event->call->function),
			 event);
	return 0;
}

static int summary_count(struct sink *sink, const struct call_count *count)
{
	struct summary *summary = summary_of(sink);
	struct row *row = row_of(summary, count->function);
	size_t i;

	row->calls += count->calls;
	row->errors += count->failed;
	row->counted += count->ns;
	for (i = 0; summary->quantiles && i < count->duration_count; i++)
		histogram_add_many(&row->durations, count->durations[i].ns,
				   count->durations[i].calls);
	return 0;
}

/* 0: too little to be told from what the stops cost. */
static uint64_t resolved_time(const struct row *row)
{
	bool told = row->time > 0 && (uint64_t)row->time > row->blur;

	return row->counted + (told ? (uint64_t)row->time : 0);
}

static int compare_rows(const struct row *a, const struct row *b)
{
	if (resolved_time(a) != resolved_time(b))
		return resolved_time(a) > resolved_time(b) ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void print_seconds(struct strbuf *out, uint64_t ns)
{
	strbuf_printf(out, " %4llu.%06llu",
		      (unsigned long long)(ns / NS_PER_SECOND),
		      (unsigned long long)(ns % NS_PER_SECOND / 1000));
}

/* "<7": less than 7 µs, which is all that can be told. */
static void print_micros(struct strbuf *out, const struct summary *summary,
			 uint64_t ns, uint64_t blur, int width)
{
	char text[32];

	if (ns > blur || !blur || summary->dialect->version)
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)(ns / 1000));
	else
		snprintf(text, sizeof(text), "<%llu",
			 (unsigned long long)((blur + 999) / 1000));
	strbuf_printf(out, " %*s", width, text);
}

/* A column that is empty where there is nothing to tell, as strace's. */
static void print_errors(struct strbuf *out, const struct summary *summary,
			 uint64_t errors)
{
	if (!summary->dialect->counts_errors)
		return;
	if (errors)
		strbuf_printf(out, " %9llu", (unsigned long long)errors);
	else
		strbuf_printf(out, " %9s", "");
}

static void print_row(struct strbuf *out, const struct summary *summary,
		      const struct row *row, uint64_t total_time)
{
	uint64_t time = resolved_time(row), blur = row->blur / row->calls;
	double percent = total_time ? 100.0 * time / total_time : 0;

	strbuf_printf(out, "%6.2f", percent);
	print_seconds(out, time);
	print_micros(out, summary, time / row->calls, blur, 11);
	if (summary->quantiles) {
		print_micros(out, summary,
			     histogram_quantile(&row->durations, 500), blur, 9);
		print_micros(out, summary,
			     histogram_quantile(&row->durations, 990), blur, 9);
		print_micros(out, summary, row->durations.max, blur, 9);
	}
	strbuf_printf(out, " %9llu", (unsigned long long)row->calls);
	print_errors(out, summary, row->errors);
	strbuf_printf(out, " %s\n", row->name);
}

static void print_total(struct strbuf *out, const struct summary *summary,
			const struct row *total)
{
	strbuf_puts(out, "100.00");
	print_seconds(out, total->counted);
	strbuf_printf(out, " %11s%*s %9llu", "", summary->quantiles ? 30 : 0,
		      "", (unsigned long long)total->calls);
	print_errors(out, summary, total->errors);
	strbuf_puts(out, " total\n");
}

static void print_rule(struct strbuf *out, const struct summary *summary)
{
	strbuf_puts(out, "------ ----------- -----------");
	if (summary->quantiles)
		strbuf_puts(out, " --------- --------- ---------");
	strbuf_puts(out, " ---------");
	if (summary->dialect->counts_errors)
		strbuf_puts(out, " ---------");
	strbuf_puts(out, " --------------------\n");
}

static void print_head(struct strbuf *out, const struct summary *summary)
{
	strbuf_puts(out, "% time     seconds  usecs/call");
	if (summary->quantiles)
		strbuf_puts(out, "       p50       p99       max");
	strbuf_puts(out, "     calls");
	/* Each has its own number of blanks. */
	strbuf_puts(out, summary->dialect->counts_errors ?
				 "    errors  function\n" :
				 "      function\n");
	print_rule(out, summary);
}

static void end_running_calls(struct summary *summary)
{
	struct row *row;

	for (row = summary->rows; row; row = row->hh.next) {
		if (summary->dialect->counts_unfinished)
			row->time +=
				row->running * summary->last_time - row->began;
		else
			row->calls -= row->running;
		row->running = 0;
		row->began = 0;
	}
}

static void print_table(const struct summary *summary, struct strbuf *out)
{
	struct row total = { 0 };
	const struct row *row;

	for (row = summary->rows; row; row = row->hh.next) {
		total.counted += resolved_time(row);
		total.calls += row->calls;
		total.errors += row->errors;
	}
	print_head(out, summary);
	for (row = summary->rows; row; row = row->hh.next)
		if (row->calls)
			print_row(out, summary, row, total.counted);
	print_rule(out, summary);
	print_total(out, summary, &total);
}

static int summary_finish(struct sink *sink)
{
	struct summary *summary = summary_of(sink);
	struct output *output = &summary->output;

	end_running_calls(summary);
	HASH_SORT(summary->rows, compare_rows);
	print_table(summary, &output->text);
	return output_write(output);
}

static void summary_free(struct sink *sink)
{
	struct summary *summary = summary_of(sink);
	struct row_of_function *entry, *next_entry;
	struct row *row, *next_row;

	HASH_ITER(hh, summary->functions, entry, next_entry) {
		HASH_DEL(summary->functions, entry);
		free(entry);
	}
	HASH_ITER(hh, summary->rows, row, next_row) {
		HASH_DEL(summary->rows, row);
		histogram_fini(&row->durations);
		free(row->name);
		free(row);
	}
	names_free(summary->names);
	output_fini(&summary->output);
	free(summary);
}

static const struct sink_ops summary_ops = {
	.event = summary_event,
	.count = summary_count,
	.finish = summary_finish,
	.free = summary_free,
};

int summary_new(const struct summary_options *options, struct sink **ret)
{
	const struct names_options names = {
		.demangle = options->demangle,
		.dialect = options->dialect,
	};
	struct output output = OUTPUT_CLOSED;
	struct summary *summary;
	int err;

	err = output_open(&output, options->path, false, false);
	if (err)
		return err;
	summary = xcalloc(1, sizeof(*summary));
	summary->sink.ops = &summary_ops;
	summary->output = output;
	summary->quantiles = options->quantiles;
	summary->dialect = options->dialect ? options->dialect : &dialect_own;
	summary->first_thread = options->first_thread;
	summary->names = names_new(&names);
	*ret = &summary->sink;
	return 0;
}
