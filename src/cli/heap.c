/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_verb.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/doing.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/heap_look.h"
#include "cli/heap_reach.h"
#include "cli/session_report.h"
#include "cli/working.h"
#include "heap/look.h"
#include "report/heap/export.h"

static struct heap_verb *verb_of(const struct session *session)
{
	return session->verb_data;
}

static const char *heap_output(const struct session *session)
{
	return heap_verb_output(verb_of(session));
}

/* ---- reports ---- */

struct heap_cost heap_verb_cost(struct heap_verb *verb,
				const struct watched *process, uint64_t now)
{
	struct heap_cost cost = {
		.stopped_ns = process->cost.stopped_ns,
		.stacks = unwind_counts(verb->session->unwinder),
	};

	cost_find(&verb->session->tracer, process->pid, now, &cost.cost);
	cost.cost.stops = process->cost.stops;
	return cost;
}

void heap_verb_unwritten(void *context, const char *path, int err)
{
	struct heap_verb *verb = context;

	verb->session->unwritten = true;
	complain(err, "%s can't be written: %s", path, strerror(-err));
}

static void write_files(struct heap_verb *verb, const struct watched *process,
			const struct heap_cost *cost, uint64_t now)
{
	const struct heap_export export = {
		.config = &verb->config,
		.options = &verb->session->options->export,
		.process = process,
		.cost = cost,
		.now = now,
	};
	const struct export_errors errors = {
		.told = heap_verb_unwritten,
		.context = verb,
	};

	heap_export_write(&export, &errors);
}

/* The last report of a process counts. */
static void judge(struct heap_verb *verb, const struct watched *process,
		  uint64_t now)
{
	if (verb->session->options->leak_status &&
	    process->state != WATCHED_RUNNING &&
	    heap_report_has_leaks(&verb->config, process->heap, now))
		verb->session->leaks = true;
}

static void output_failed(struct heap_verb *verb, int err)
{
	if (!err)
		return;
	verb->error = err;
	verb->session->unwritten = true;
	complain(0, "%s can't be written any more: %s",
		 heap_output(verb->session), strerror(-err));
}

void heap_verb_finish_reports(struct heap_verb *verb)
{
	if (!verb->error)
		output_failed(verb, heap_report_finish(verb->report));
}

void heap_verb_report(struct heap_verb *verb, const struct watched *process,
		      const struct heap_cost *cost_before, uint64_t now)
{
	struct heap_cost cost = *cost_before;
	int err;

	if (!cost.report_began)
		cost.report_began = clock_now();
	progress_clear(verb->progress);
	/* It forks: nobody shall wait for that at a trap. */
	if (process->state != WATCHED_RUNNING)
		working_begin(-1, "making the report of process %d",
			      (int)process->pid);
	if (verb->suppressions)
		suppressions_apply(verb->suppressions, &verb->config,
				   process->heap);
	judge(verb, process, now);
	write_files(verb, process, &cost, now);
	doing("making the report of process %d", (int)process->pid);
	/* What is converted has no other text. */
	err = verb->error || verb->session->options->converted ?
		      0 :
		      heap_report_print(verb->report, process, now, &cost);
	working_end();
	output_failed(verb, err);
}

static void print_report(struct heap_verb *verb, const struct watched *process)
{
	const struct options *options = verb->session->options;
	uint64_t real = process->end ? process->end : clock_now();
	struct heap_cost cost = heap_verb_cost(verb, process, real);
	CLEANUP(strbuf_fini) struct strbuf refused = { 0 };

	if (session_tell_refused(verb->session, &refused))
		cost.refused = strbuf_text(&refused);
	if (process->state == WATCHED_RUNNING || process->state == WATCHED_LEFT)
		heap_name_threads(process->heap, true);
	cost.report_began = clock_now();
	heap_forget_look(process->heap);
	if (verb->session->options->verb == VERB_HEAP &&
	    (process->state == WATCHED_RUNNING ||
	     process->state == WATCHED_LEFT))
		heap_look_at(process, options->script, options->data);
	if (verb->session->options->verb == VERB_HEAP)
		heap_verb_report(verb, process, &cost,
				 heap_time(process->heap, real));
	if (verb->recorder && process->end)
		recorder_ended(verb->recorder, process, &cost);
}

/* It was the last one: nobody stands still while its files are fetched. */
static bool is_last(const struct tracer *tracer)
{
	return HASH_COUNT(tracer->tracees) <= 1 && !tracer->tasks;
}

/* As long as some of its tasks aren't let go they are still ours. */
static bool can_be_looked_at(const struct heap_verb *verb,
			     const struct watched *process)
{
	const struct options *options = verb->session->options;

	/* What leads to a block may lie in one that isn't kept. */
	return options->verb == VERB_HEAP && !options->no_reach &&
	       !options_sample(options) &&
	       heap_report_has_blocks(&options->report) &&
	       process->state == WATCHED_LEFT && !verb->session->holds_on;
}

void heap_verb_ended(void *context, const struct watched *process)
{
	struct heap_verb *verb = context;
	struct session *session = verb->session;
	bool last = is_last(&session->tracer);

	if (can_be_looked_at(verb, process))
		heap_reach_look(process);
	if (process->state == WATCHED_REPLACED && !process->calls &&
	    !(process->growth && growth_site_count(process->growth)))
		return;
	if (last)
		debuginfo_wait_for_fetched(session->debuginfo,
					   &session->requests->interrupts);
	if (verb->journal)
		heap_journal_close(verb->journal, process->pid);
	print_report(verb, process);
	if (last)
		debuginfo_wait_for_fetched(session->debuginfo, NULL);
}

/* A line has no names that would have to be asked for. */
static void print_lines(struct heap_verb *verb, uint64_t now)
{
	const char *tag = verb->session->options->tag;
	const struct watched *process;

	progress_clear(verb->progress);
	watch_sample(verb->watch, now, true);
	for (process = watch_next(verb->watch, NULL); process && !verb->error;
	     process = watch_next(verb->watch, process))
		output_failed(verb,
			      heap_report_line(verb->report, process,
					       heap_time(process->heap, now),
					       tag));
}

static void print_all(struct heap_verb *verb)
{
	const struct watched *process;

	watch_sample(verb->watch, clock_now(), false);
	for (process = watch_next(verb->watch, NULL); process;
	     process = watch_next(verb->watch, process))
		print_report(verb, process);
}

/* ---- while it runs ---- */

/* A short run has something to tell, too: a second's 64th, then each time
   twice as long, up to a second. */
#define FIRST_SAMPLE (NS_PER_SECOND / 64)

/* For names, and how often they are asked for meanwhile. */
#define PATIENCE (15 * NS_PER_SECOND)
#define PAUSE    (NS_PER_SECOND / 100)

static void set_alarm(struct heap_verb *verb)
{
	uint64_t then = verb->next_sample;

	if (verb->next_report && verb->next_report < then)
		then = verb->next_report;
	if (verb->prefetch && clock_now() + PAUSE < then)
		then = clock_now() + PAUSE;
	if (verb->next_look && verb->next_look < then)
		then = verb->next_look;
	if (verb->next_overhead && verb->next_overhead < then)
		then = verb->next_overhead;
	if (verb->serve && verb->next_serve < then)
		then = verb->next_serve;
	verb->session->requests->alarm = then;
}

/* Tasks would wait while debug information is read for the report: it is made
   when that has been done. */
static void want_report(struct heap_verb *verb, uint64_t now)
{
	const struct session *session = verb->session;
	const struct watched *process;

	if (verb->prefetch)
		return;
	verb->prefetch = heap_prefetch_new();
	verb->patience = now + PATIENCE;
	for (process = watch_next(verb->watch, NULL); process;
	     process = watch_next(verb->watch, process))
		heap_prefetch_add(verb->prefetch, &verb->config, process,
				  heap_time(process->heap, now),
				  heap_export_is_wanted(
					  &session->options->export));
}

static void print_if_named(struct heap_verb *verb, uint64_t now)
{
	if (!verb->prefetch ||
	    (!heap_prefetch_is_done(&verb->config, verb->prefetch) &&
	     now < verb->patience))
		return;
	heap_prefetch_free(verb->prefetch);
	verb->prefetch = NULL;
	print_all(verb);
}

static void heed_signals(struct heap_verb *verb)
{
	const struct signal_requests *requests = verb->session->requests;

	if (verb->reports != requests->reports) {
		verb->reports = requests->reports;
		if (!verb->top)
			want_report(verb, clock_now());
	}
	for (; verb->switches != requests->switches; verb->switches++) {
		bool on = !watch_is_on(verb->watch);

		watch_switch(verb->watch, on, clock_now());
		complain(0, on ? "what is acquired counts again" :
				 "what is acquired from now on doesn't count, "
				 "what is given back does");
	}
}

static void heap_woken(struct session *session)
{
	struct heap_verb *verb = verb_of(session);
	uint64_t now = clock_now();

	heed_signals(verb);
	heap_overhead_look(verb, now);
	if (verb->next_report && now >= verb->next_report) {
		if (session->options->tag)
			print_lines(verb, now);
		else
			want_report(verb, now);
		verb->next_report += session->options->every;
		if (verb->next_report < now)
			verb->next_report = now + session->options->every;
	}
	print_if_named(verb, now);
	if (now >= verb->next_sample) {
		watch_sample(verb->watch, now, true);
		verb->next_sample = now + verb->until_sample;
		if (verb->until_sample < NS_PER_SECOND)
			verb->until_sample *= 2;
		else if (!verb->top)
			progress_show(verb->progress, verb->watch, now);
	}
	if (verb->top)
		verb->next_look = top_look(verb->top, now);
	if (verb->serve)
		verb->next_serve = serve_look(verb->serve, now);
	set_alarm(verb);
	signals_rest();
}

static void heap_begun(struct session *session)
{
	struct heap_verb *verb = verb_of(session);
	const struct tracee *tracee, *next;

	HASH_ITER(hh, session->tracer.tracees, tracee, next)
		watch_add(verb->watch, tracee->pid,
			  tracee->pid == session->child);
	heap_overhead_look(verb, clock_now());
	verb->until_sample = FIRST_SAMPLE;
	verb->next_sample = clock_now() + verb->until_sample;
	if (verb->top)
		verb->next_look = verb->next_sample;
	else if (session->options->every)
		verb->next_report = clock_now() + session->options->every;
	set_alarm(verb);
}

static void heap_missed_calls(struct session *session, pid_t pid,
			      const struct lost_traps *lost, uint64_t now)
{
	/* Our own guardian is no other tool. */
	const struct missed missed = {
		.traps = session->requests->lifted ? 0 : lost->count,
		.since = lost->since,
	};

	watch_missed(verb_of(session)->watch, pid, &missed, now);
}

/* What was given back meanwhile isn't known. */
static void heap_unwatched(struct session *session, pid_t pid, uint64_t calls,
			   uint64_t since, uint64_t now)
{
	const struct missed missed = { .calls = calls, .since = since };
	struct heap_verb *verb = verb_of(session);

	verb->next_overhead = 0;
	watch_missed(verb->watch, pid, &missed, now);
}

static void heap_held(struct session *session, pid_t pid,
		      void (*visit)(void *visitor, uint64_t handle),
		      void *visitor)
{
	watch_visit_held(verb_of(session)->watch, pid, visit, visitor);
}

static void heap_leaving(struct session *session)
{
	watch_leave(verb_of(session)->watch, clock_now());
}

static int heap_open(struct session *session)
{
	struct heap_verb *verb = xcalloc(1, sizeof(*verb));

	session->verb_data = verb;
	verb->session = session;
	return heap_verb_open(verb);
}

static void heap_configure(struct session *session,
			   struct prober_config *config)
{
	struct heap_verb *verb = verb_of(session);

	/* Nobody has named any: these are empty, but for --per. */
	config->calls = session->options->calls;
	config->libraries = session->options->libraries;
	config->entries = session->options->entries;
	config->entries_option = "--per";
	config->pick = watch_pick(verb->watch);
	config->system_calls = session->options->report.growth_by ==
			       GROWTH_BY_SYSTEM_CALLS;
	config->stack_depth = session->options->depth;
	config->script_stacks = session->options->script;
}

static struct growth *find_growth(void *context, pid_t pid)
{
	const struct heap_verb *verb = context;

	return watch_growth(verb->watch, pid);
}

static struct event_source *heap_source(struct session *session)
{
	const struct options *options = session->options;
	struct heap_verb *verb = verb_of(session);

	if (!(options->report.growth & GROWTH_BIT(GROWTH_FAULTS)))
		return NULL;
	verb->faults = faults_new(&(struct faults_options){
		.unwinder = session->unwinder,
		.depth = options->depth,
		.growth = find_growth,
		.context = verb,
	});
	return faults_source(verb->faults);
}

static void heap_in_need(struct session *session)
{
	if (verb_of(session)->top)
		top_abandon(verb_of(session)->top);
}

/* An allocator is known by its names alone. */
static void heap_finished(struct session *session)
{
	const struct heap_report_options *options = &session->options->report;
	struct heap_verb *verb = verb_of(session);
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };
	size_t functions = 0;

	if (verb->recorder)
		recorder_finish(verb->recorder);
	heap_verb_finish_reports(verb);
	heap_overhead_tell(verb);
	if (watch_has_found(verb->watch) ||
	    options->growth_by == GROWTH_BY_SYSTEM_CALLS)
		return;
	if (!heap_report_has_blocks(options)) {
		complain(0, "neither brk nor mmap is named in the program or "
			    "a library of it; -S watches system calls");
		return;
	}
	for (size_t i = 0; i < families_count(verb->families); i++) {
		const struct family *family = families_at(verb->families, i);

		strbuf_printf(&names, "%s%s", i ? ", " : "", family->name);
		functions += family->function_count;
	}
	if (prober_has_go(session->prober)) {
		complain(0, "the program is Go's, which has an allocator of "
			    "its own: --growth shows what makes the process "
			    "grow, and go tool pprof reads the profile of its "
			    "objects that it can write itself (runtime/pprof, "
			    "net/http/pprof)");
		return;
	}
	complain(0,
		 "no allocator was found: none of %zu functions (malloc, "
		 "calloc, operator new, mmap, ...; families: %s) is named "
		 "in the program or a library of it; is it stripped?",
		 functions, strbuf_text(&names));
}

static void heap_close(struct session *session)
{
	struct heap_verb *verb = verb_of(session);

	if (verb)
		heap_verb_free(verb);
}

void heap_verb_free(struct heap_verb *verb)
{
	top_free(verb->top);
	serve_free(verb->serve);
	progress_free(verb->progress);
	heap_report_free(verb->report);
	heap_prefetch_free(verb->prefetch);
	heap_verb_free_components(verb);
	suppressions_free(verb->suppressions);
	wrappers_free(verb->wrappers);
	per_file_free(verb->per_file);
	namer_free(verb->namer);
	families_free(verb->families);
	faults_free(verb->faults);
	free(verb);
}

const struct verb_ops heap_verb = {
	.open = heap_open,
	.configure = heap_configure,
	.source = heap_source,
	.begun = heap_begun,
	.woken = heap_woken,
	.missed = heap_missed_calls,
	.unwatched = heap_unwatched,
	.held = heap_held,
	.leaving = heap_leaving,
	.in_need = heap_in_need,
	.finished = heap_finished,
	.close = heap_close,
	.output = heap_output,
};
