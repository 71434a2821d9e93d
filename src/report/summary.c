/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/names.h"
#include "report/output.h"

/* All functions of one name. */
struct row {
	char *name;
	uint64_t calls;
	uint64_t time; /* nanoseconds, of those that have ended */
	/*
	 * Those that have not: how many, and the sum (modulo 2^64) of the
	 * times when they began. That is all it takes to know their time at
	 * the end, without a list of them.
	 */
	uint64_t running;
	uint64_t began;
	UT_hash_handle hh;
};

struct row_of_function {
	const struct function *function;
	struct row *row;
	UT_hash_handle hh;
};

struct summary {
	struct sink sink;
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

static void end_call(struct row *row, const struct event *event)
{
	uint64_t began = event->call->time;

	/* A vfork returns in its child, too: that is not its end. */
	if (event->tid != event->call->tid || !row->running)
		return;
	row->running--;
	row->began -= began;
	if (event->time > began)
		row->time += event->time - began;
}

static int summary_event(struct sink *sink, const struct event *event)
{
	struct summary *summary = summary_of(sink);

	if (event->time > summary->last_time)
		summary->last_time = event->time;
	if (event->kind == EVENT_CALL)
		begin_call(row_of(summary, event->call->function), event);
	else if (event->kind == EVENT_RETURN || event->kind == EVENT_ABANDON)
		end_call(row_of(summary, event->call->function), event);
	return 0;
}

static int compare_rows(const struct row *a, const struct row *b)
{
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Nothing feeds the column of errors yet. */
static void print_row(struct strbuf *out, const struct row *row,
		      uint64_t total_time)
{
	double percent = total_time ? 100.0 * row->time / total_time : 0;

	strbuf_printf(out, "%6.2f %4llu.%06llu %11llu %9llu %9s %s\n", percent,
		      (unsigned long long)(row->time / NS_PER_SECOND),
		      (unsigned long long)(row->time % NS_PER_SECOND / 1000),
		      (unsigned long long)(row->time / 1000 / row->calls),
		      (unsigned long long)row->calls, "", row->name);
}

static void print_total(struct strbuf *out, uint64_t time, uint64_t calls)
{
	strbuf_printf(out, "100.00 %4llu.%06llu %11s %9llu %9s total\n",
		      (unsigned long long)(time / NS_PER_SECOND),
		      (unsigned long long)(time % NS_PER_SECOND / 1000), "",
		      (unsigned long long)calls, "");
}

static void end_running_calls(struct summary *summary)
{
	struct row *row;

	for (row = summary->rows; row; row = row->hh.next) {
		row->time += row->running * summary->last_time - row->began;
		row->running = 0;
		row->began = 0;
	}
}

static void print_table(struct summary *summary, struct strbuf *out)
{
	static const char rule[] = "------ ----------- ----------- --------- "
				   "--------- --------------------\n";
	uint64_t time = 0, calls = 0;
	struct row *row;

	for (row = summary->rows; row; row = row->hh.next) {
		time += row->time;
		calls += row->calls;
	}
	strbuf_puts(out, "% time     seconds  usecs/call     calls    errors"
			 "  function\n");
	strbuf_puts(out, rule);
	for (row = summary->rows; row; row = row->hh.next)
		print_row(out, row, time);
	strbuf_puts(out, rule);
	print_total(out, time, calls);
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
		free(row->name);
		free(row);
	}
	names_free(summary->names);
	output_fini(&summary->output);
	free(summary);
}

static const struct sink_ops summary_ops = {
	.event = summary_event,
	.finish = summary_finish,
	.free = summary_free,
};

int summary_new(const struct summary_options *options, struct sink **ret)
{
	const struct names_options names = { .demangle = options->demangle };
	struct output output = OUTPUT_CLOSED;
	struct summary *summary;
	int error;

	error = output_open(&output, options->path, false);
	if (error)
		return error;
	summary = xcalloc(1, sizeof(*summary));
	summary->sink.ops = &summary_ops;
	summary->output = output;
	summary->names = names_new(&names);
	*ret = &summary->sink;
	return 0;
}
