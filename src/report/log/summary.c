/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "report/file/output.h"
#include "report/format/names.h"
#include "report/log/estimate.h"
#include "report/log/histogram.h"

/* All functions of one name. */
struct row {
	char *name;
	uint64_t calls;
	uint64_t errors;
	int64_t time;  /* nanoseconds, of those that have ended, by stops */
	uint64_t blur; /* by so much it may be off: see event_is_resolved() */
	/* How many these are, and some of them that were timed better. */
	uint64_t stopped;
	struct call_estimate *clocked;
	/*
	 * Nanoseconds of those that were counted in the process. What stops
	 * cost isn't in these, so what is wrong in an estimate of that, as
	 * where processors are busy, is not to swallow them.
	 */
	uint64_t counted;
	uint64_t counted_blur; /* … but the clock that tells them does */
	/*
	 * Those that have not: how many, and the sum (modulo 2^64) of the
	 * times when they began. That is all it takes to know their time at
	 * the end, without a list of them.
	 */
	uint64_t running;
	uint64_t began;
	/* Of calls that were but counted, and of those that stand for them. */
	uint64_t untimed, chosen;
	struct call_estimate *estimate; /* NULL: there are none of the latter */
	struct estimated mean;          /* at the end */
	bool timeless;              /* … but what it says of times can't be */
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
	uint64_t first_time, last_time; /* of events */
	unsigned threads;               /* besides the first */
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

static struct call_estimate *needed(struct call_estimate **estimate)
{
	if (!*estimate)
		*estimate = xcalloc(1, sizeof(**estimate));
	return *estimate;
}

/* What is taken to have gone on until now, as nobody saw it end, says nothing. */
static void add_chosen(const struct summary *summary, struct row *row,
		       const struct event *event)
{
	row->chosen++;
	if (event->kind == EVENT_ABANDON && event->end == CALL_UNSEEN)
		return;
	estimate_add(needed(&row->estimate), event);
	if (summary->quantiles)
		histogram_add_many(&row->durations, event_duration(event),
				   (uint64_t)(call_stands_for(event->call) +
					      0.5));
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
	row->began -= event->call->time;
	if (event->call->chosen.choice == CALL_KEPT) {
		add_chosen(summary, row, event);
		return;
	}
	row->errors += event->kind == EVENT_RETURN && event->failed;
	row->time += event_mean_duration(event);
	row->blur += event->cost.resolution_ns + event->cost.waits_ns;
	row->stopped++;
	if (event->kind == EVENT_RETURN && event->call->clock.known)
		estimate_add_clocked(needed(&row->clocked), event);
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
	if (!summary->first_time)
		summary->first_time = event->time;
	summary->threads += event->kind == EVENT_THREAD ||
			    event->kind == EVENT_FORK;
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
	row->counted_blur += count->blur_ns;
	if (count->untimed)
		row->untimed += count->calls;
	for (i = 0; summary->quantiles && i < count->duration_count; i++)
		histogram_add_many(&row->durations, count->durations[i].ns,
				   count->durations[i].calls);
	return 0;
}

/* All of these have the mean's share each. */
static double times_of(const struct row *row, double mean)
{
	return mean * (double)(row->untimed + row->chosen);
}

/* All threads that were seen had no more, from the first event to the last. */
static double most_time(const struct summary *summary)
{
	return (double)(summary->last_time - summary->first_time) *
	       (double)(summary->threads + 1);
}

/*
 * All of them were chosen: then it is no estimate. Where some weren't, and too few were,
 * those of before stand for nothing either: most were the first ones. Nor is known how
 * long they took if that would be more than all the time there was: where stops wait for
 * processors, calls that are brief have taken what the stops did. Failures don't depend
 * on that.
 */
static void estimate_row(const struct summary *summary, struct row *row)
{
	if (!row->chosen || !row->estimate)
		return;
	row->mean = row->untimed ? estimate_mean(row->estimate) :
				   estimate_all(row->estimate);
	row->timeless = row->untimed &&
			times_of(row, row->mean.ns - row->mean.blur) >
				most_time(summary);
}

/*
 * Where stops wait for processors, some calls that aren't blurred by that say more than
 * all of them, of which one waits for long, and nobody knows which.
 */
static void use_clocked(struct row *row)
{
	const double calls = (double)row->stopped;
	struct estimated mean;
	double apart;

	if (!row->clocked)
		return;
	mean = estimate_some(row->clocked, calls);
	if (!mean.known)
		return;
	apart = fabs((double)row->time - mean.ns * calls);
	if (mean.late > 0 || (double)row->blur + apart > mean.blur * calls) {
		row->time = (int64_t)(mean.ns * calls);
		row->blur = (uint64_t)(mean.blur * calls);
	} else {
		row->blur += (uint64_t)apart;
	}
}

static bool is_estimated(const struct row *row)
{
	return row->untimed;
}

static bool has_times(const struct row *row)
{
	return row->mean.known && !row->timeless;
}

static uint64_t blur_of(const struct row *row)
{
	const struct estimated mean = row->mean;

	return row->blur + row->counted_blur +
	       (has_times(row) ? (uint64_t)times_of(row, mean.blur) : 0);
}

static uint64_t errors_of(const struct row *row)
{
	const struct estimated mean = row->mean;

	return row->errors +
	       (mean.known ? (uint64_t)(times_of(row, mean.errors) + 0.5) : 0);
}

/* Of those that were timed each, and of which anything can be told. */
static uint64_t exact_time(const struct row *row)
{
	const bool told = row->time > 0 && (uint64_t)row->time > row->blur;

	return row->counted + (told ? (uint64_t)row->time : 0);
}

/* With those for which others stand. */
static double likely_time(const struct row *row)
{
	return (double)exact_time(row) + (has_times(row) && row->mean.ns > 0 ?
						  times_of(row, row->mean.ns) :
						  0);
}

/* An estimate says more than "less than". */
static bool is_told(const struct row *row)
{
	return has_times(row) && likely_time(row) > (double)blur_of(row);
}

/* 0: too little to be told from what the stops cost. */
static uint64_t resolved_time(const struct row *row)
{
	return is_told(row) ? (uint64_t)likely_time(row) : exact_time(row);
}

static int compare_rows(const struct row *a, const struct row *b)
{
	if (resolved_time(a) != resolved_time(b))
		return resolved_time(a) > resolved_time(b) ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

static const char *mark_of(bool estimated)
{
	return estimated ? "~" : "";
}

static void print_seconds(struct strbuf *out, uint64_t ns, const char *mark)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%llu.%06llu", mark,
		 (unsigned long long)(ns / NS_PER_SECOND),
		 (unsigned long long)(ns % NS_PER_SECOND / 1000));
	strbuf_printf(out, " %11s", text);
}

/* "<7": less than 7 µs, which is all that can be told. */
static void print_micros(struct strbuf *out, const struct summary *summary,
			 uint64_t ns, uint64_t blur, bool estimated, int width)
{
	char text[32];

	if (ns > blur || !blur || summary->dialect->version)
		snprintf(text, sizeof(text), "%s%llu", mark_of(estimated),
			 (unsigned long long)(ns / 1000));
	else
		snprintf(text, sizeof(text), "<%llu",
			 (unsigned long long)((blur + 999) / 1000));
	strbuf_printf(out, " %*s", width, text);
}

/* A column that is empty where there is nothing to tell, as strace's. */
static void print_errors(struct strbuf *out, const struct summary *summary,
			 uint64_t errors, bool estimated)
{
	char text[32] = "";

	if (!summary->dialect->counts_errors)
		return;
	if (errors)
		snprintf(text, sizeof(text), "%s%llu", mark_of(estimated),
			 (unsigned long long)errors);
	strbuf_printf(out, " %9s", text);
}

static void print_quantiles(struct strbuf *out, const struct summary *summary,
			    const struct row *row, uint64_t blur)
{
	const struct histogram *durations = &row->durations;
	const bool estimated = is_estimated(row);

	print_micros(out, summary, histogram_quantile(durations, 500), blur,
		     estimated, 9);
	print_micros(out, summary, histogram_quantile(durations, 990), blur,
		     estimated, 9);
	print_micros(out, summary, durations->max, blur, estimated, 9);
}

/* Some of its calls were counted, and too few were timed to say how long they took. */
static bool is_unknown(const struct row *row)
{
	return row->untimed && !has_times(row);
}

static void print_unknown(struct strbuf *out, const struct summary *summary,
			  const struct row *row)
{
	strbuf_printf(out, "%6s %11s %11s", "?", "?", "?");
	if (summary->quantiles)
		strbuf_printf(out, " %9s %9s %9s", "?", "?", "?");
	strbuf_printf(out, " %9llu", (unsigned long long)row->calls);
	if (row->mean.known)
		print_errors(out, summary, errors_of(row), true);
	else if (summary->dialect->counts_errors)
		strbuf_printf(out, " %9s", "?");
	strbuf_printf(out, " %s\n", row->name);
}

static void print_percent(struct strbuf *out, uint64_t time,
			  uint64_t total_time)
{
	strbuf_printf(out, "%6.2f", total_time ? 100.0 * time / total_time : 0);
}

/* What is off by more is told so. */
#define OFF_LITTLE 10 /* percent */

/* "~19±30%" */
static void print_mean(struct strbuf *out, const struct row *row, double time,
		       double off)
{
	const double percent = 100 * off / time;
	const double micros = time / 1000 / (double)row->calls;
	char text[48], range[16] = "";

	if (percent > OFF_LITTLE)
		snprintf(range, sizeof(range), "±%.0f%%", ceil(percent));
	snprintf(text, sizeof(text), "%s%.*f%s", mark_of(is_estimated(row)),
		 (micros < 9.95) + (micros < 0.095), micros, range);
	/* printf() counts bytes. */
	strbuf_printf(out, " %*s", *range ? 12 : 11, text);
}

/* Nobody can have taken more than all the time there was. */
static double most_of(const struct summary *summary, const struct row *row)
{
	return fmin(likely_time(row) + (double)blur_of(row),
		    (double)exact_time(row) + most_time(summary));
}

static void print_estimated(struct strbuf *out, const struct summary *summary,
			    const struct row *row, uint64_t total_time)
{
	const uint64_t most = (uint64_t)most_of(summary, row);

	if (is_told(row)) {
		print_percent(out, resolved_time(row), total_time);
		print_seconds(out, resolved_time(row), "~");
		print_mean(out, row, likely_time(row), (double)blur_of(row));
		return;
	}
	strbuf_printf(out, "%6s", "?");
	print_seconds(out, most, "<");
	print_micros(out, summary, 0, most / row->calls + 1, true, 11);
}

/* Each of its calls was. */
static void print_timed(struct strbuf *out, const struct summary *summary,
			const struct row *row, uint64_t total_time)
{
	const uint64_t time = resolved_time(row), blur = blur_of(row);
	const double off = (double)blur;

	print_percent(out, time, total_time);
	print_seconds(out, time, "");
	if (time > blur && off * 100 > (double)time * OFF_LITTLE &&
	    !summary->dialect->version)
		print_mean(out, row, (double)time, off);
	else
		print_micros(out, summary, time / row->calls, blur / row->calls,
			     false, 11);
}

static void print_row(struct strbuf *out, const struct summary *summary,
		      const struct row *row, uint64_t total_time)
{
	const uint64_t blur = blur_of(row) / row->calls;
	const bool estimated = is_estimated(row);

	if (estimated)
		print_estimated(out, summary, row, total_time);
	else
		print_timed(out, summary, row, total_time);
	if (summary->quantiles)
		print_quantiles(out, summary, row, blur);
	strbuf_printf(out, " %9llu", (unsigned long long)row->calls);
	print_errors(out, summary, errors_of(row), estimated);
	strbuf_printf(out, " %s\n", row->name);
}

static void print_total(struct strbuf *out, const struct summary *summary,
			const struct row *total)
{
	const bool estimated = is_estimated(total);

	strbuf_puts(out, "100.00");
	print_seconds(out, total->counted, mark_of(estimated));
	strbuf_printf(out, " %11s%*s %9llu", "", summary->quantiles ? 30 : 0,
		      "", (unsigned long long)total->calls);
	print_errors(out, summary, total->errors, estimated);
	strbuf_puts(out, " total\n");
}

/* total->chosen and .untimed: of the rows that are estimated. */
static void print_estimate(struct strbuf *out, const struct row *total)
{
	if (!is_estimated(total))
		return;
	strbuf_printf(out,
		      "~: each call was counted, but only %llu of %llu were "
		      "timed, at random\n",
		      (unsigned long long)total->chosen,
		      (unsigned long long)(total->chosen + total->untimed));
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
		total.errors += errors_of(row);
		if (!is_estimated(row))
			continue;
		total.untimed += row->untimed;
		total.chosen += row->calls - row->untimed;
	}
	print_head(out, summary);
	for (row = summary->rows; row; row = row->hh.next)
		if (row->calls && is_unknown(row))
			print_unknown(out, summary, row);
		else if (row->calls)
			print_row(out, summary, row, total.counted);
	print_rule(out, summary);
	print_total(out, summary, &total);
	print_estimate(out, &total);
}

static int summary_finish(struct sink *sink)
{
	struct summary *summary = summary_of(sink);
	struct output *output = &summary->output;
	struct row *row;

	end_running_calls(summary);
	for (row = summary->rows; row; row = row->hh.next) {
		estimate_row(summary, row);
		use_clocked(row);
	}
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
		free(row->estimate);
		free(row->clocked);
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
