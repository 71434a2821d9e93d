/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_verb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/family_path.h"

const char *heap_verb_output(const struct heap_verb *verb)
{
	const char *path = verb->session->options->report.path;

	return path ? path : "the report";
}

static int read_families(struct heap_verb *verb)
{
	const struct options *options = verb->session->options;
	char *const *pools = options->pools;
	char *const *families = options->families;
	int err = 0;

	if (!heap_report_has_blocks(&options->report))
		return 0;
	for (; !err && families && *families; families++)
		err = family_path_load(verb->families, *families);
	if (!err && !options->families)
		err = family_path_load(verb->families, "malloc");
	if (!err && !options->families)
		err = family_path_load(verb->families, "mappings");
	for (; !err && pools && *pools; pools++)
		err = family_path_load(verb->families, *pools);
	return err;
}

static int read_components(struct heap_verb *verb)
{
	const char *path = verb->session->options->components;
	int err = path ? components_read(path, &verb->components) : 0;

	return err ? complain(err, "--components %s: %s", path,
			      strerror(-err)) :
		     0;
}

static int read_suppressions(struct heap_verb *verb)
{
	char *const *paths = verb->session->options->suppressions;
	int err = 0;

	if (paths)
		verb->suppressions = suppressions_new();
	for (; !err && paths && *paths; paths++) {
		err = suppressions_read(verb->suppressions, *paths);
		if (err)
			complain(err, "--suppress %s: %s", *paths,
				 strerror(-err));
	}
	return err;
}

/* A stack ends in one library only. */
unsigned heap_verb_component(void *context, stack_id stack, const char *library)
{
	struct heap_verb *verb = context;
	struct component_of_stack *known;

	HASH_FIND(hh, verb->component_of, &stack, sizeof(stack), known);
	if (known)
		return known->component;
	known = xcalloc(1, sizeof(*known));
	known->stack = stack;
	known->component = components_find(verb->components,
					   verb->session->stacks, verb->namer,
					   stack, library);
	HASH_ADD(hh, verb->component_of, stack, sizeof(known->stack), known);
	return known->component;
}

void heap_verb_free_components(struct heap_verb *verb)
{
	struct component_of_stack *known, *next;

	HASH_ITER(hh, verb->component_of, known, next) {
		HASH_DEL(verb->component_of, known);
		free(known);
	}
	components_free(verb->components);
}

static int open_report(struct heap_verb *verb)
{
	struct heap_report_config *config = &verb->config;
	int err;

	*config = (struct heap_report_config){
		.wall_offset = config->wall_offset,
		.played = verb->from,
		.options = &verb->session->options->report,
		.stacks = verb->session->stacks,
		.families = verb->families,
		.namer = verb->namer,
		.suppressions = verb->suppressions,
		.wrappers = verb->wrappers,
		.per = verb->per,
		.scripts = verb->session->options->script,
		.policy = &verb->session->report_policy,
	};
	if (verb->components)
		config->components = components_names(verb->components,
						      &config->component_count);
	err = heap_report_new(config, &verb->report);
	return err ? complain(err, "%s can't be written: %s",
			      heap_verb_output(verb), strerror(-err)) :
		     0;
}

/* Each call, in files of its own. */
int heap_verb_open_journal(struct heap_verb *verb)
{
	struct session *session = verb->session;
	const struct options *options = session->options;
	const struct heap_journal_options journal = {
		.calls = {
			.path = options->heap_calls,
			.config = &verb->config,
			.demangle = options->log.demangle,
			.component = verb->components ? heap_verb_component :
							NULL,
			.context = verb,
			.policy = &session->policy,
		},
		.footprint = options->footprint,
		.next = verb->recorder ? recorder_observer(verb->recorder) :
					 NULL,
		.told = heap_verb_unwritten,
		.context = verb,
	};

	if (!options->heap_calls && !options->footprint)
		return 0;
	return heap_journal_new(&journal, &verb->journal);
}

static void tell_recorded(const struct sink_file_counts *counts,
			  const char *path)
{
	const uint64_t events = counts->events ? counts->events : 1;

	complain(0, "%s: %" PRIu64 " events in %" PRIu64 " bytes, %.1f each",
		 path, counts->events, counts->bytes,
		 (double)counts->bytes / events);
	if (counts->dropped)
		complain(0,
			 "%s: %" PRIu64 " events were dropped, as the disk "
			 "didn't take them in time (--when-full=wait waits, "
			 "and so does what is traced)",
			 path, counts->dropped);
	if (counts->waited_ns >= NS_PER_SECOND / 10)
		complain(0, "%s: the disk was waited for, %.1f s in all", path,
			 counts->waited_ns / 1e9);
}

static void recorded(void *context, const char *path,
		     const struct sink_file_counts *counts, int err)
{
	struct heap_verb *verb = context;

	if (!err && verb->session->begun)
		tell_recorded(counts, path);
	if (!err)
		return;
	verb->session->unwritten = true;
	if (!counts)
		complain(err, "%s can't be written: %s", path, strerror(-err));
	else
		complain(err,
			 "%s can't be written any more: %s; it has the "
			 "first %" PRIu64 " events and can be read, %" PRIu64
			 " are missing",
			 path, strerror(-err), counts->events,
			 counts->unwritten + counts->dropped);
}

static int open_recorder(struct heap_verb *verb)
{
	const struct session *session = verb->session;
	const char *path = session->options->recording;
	const struct recorder_options options = {
		.path = path,
		.stacks = session->stacks,
		.families = verb->families,
		.namer = verb->namer,
		.wall_offset = verb->config.wall_offset,
		.policy = { .drops = session->policy.drops,
			    .hurry = session->policy.hurry },
		.told = recorded,
		.context = verb,
	};
	int err = path ? recorder_new(&options, &verb->recorder) : 0;

	return err ? complain(err, "%s can't be written: %s", path,
			      strerror(-err)) :
		     0;
}

/* What a process has cost is known as long as it is traced. */
static struct watched_cost find_cost(void *context, pid_t pid)
{
	const struct heap_verb *verb = context;
	struct tracee *tracee = tracee_find(&verb->session->tracer, pid);
	const struct standstill *still;
	uint64_t addresses = 0;

	if (!tracee)
		return (struct watched_cost){ 0 };
	if (verb->session->agent)
		addresses = agent_engine_addresses(verb->session->agent, pid);
	still = standstill_look(tracee, clock_now());
	return (struct watched_cost){
		.stops = tracee->stops,
		.stopped_ns = tracee->stopped_ns,
		.held_ns = still->ns,
		.held_until = still->until,
		.addresses = addresses,
	};
}

static void find_own_memory(void *context, pid_t pid, uint64_t *bytes)
{
	const struct heap_verb *verb = context;

	if (verb->session->agent)
		agent_engine_resident(verb->session->agent, pid, bytes);
}

static void drain(void *context)
{
	const struct heap_verb *verb = context;

	if (verb->faults)
		faults_drain(verb->faults);
}

static struct act_observer *observer_of(const struct heap_verb *verb)
{
	if (verb->journal)
		return heap_journal_observer(verb->journal);
	return verb->recorder ? recorder_observer(verb->recorder) : NULL;
}

static void kept(void *context, pid_t pid, uint64_t handle,
		 enum watch_keeping keeping)
{
	const struct heap_verb *verb = context;
	struct agent_engine *agent = verb->session->agent;

	if (agent && keeping == WATCH_KEPT_AGAIN)
		agent_engine_kept_again(agent, pid, handle);
	else if (agent)
		agent_engine_kept(agent, pid, handle, keeping == WATCH_GONE);
}

/* ---- --per ---- */

static bool usable(void *context, const struct event *event, uint64_t block,
		   uint64_t *ret)
{
	const struct heap_verb *verb = context;
	const struct tracee *tracee =
		tracee_find(&verb->session->tracer, event->pid);

	return tracee && tracee->space &&
	       prober_usable_size(tracee->space, event, block, ret);
}

static void per_unwritten(struct heap_verb *verb, int err)
{
	if (err)
		heap_verb_unwritten(verb, verb->session->options->per_json,
				    err);
}

static void per_told(void *context, const struct per_call *call)
{
	struct heap_verb *verb = context;

	per_unwritten(verb, per_file_add(verb->per_file, call));
}

static void per_flush(void *context, pid_t gone)
{
	struct heap_verb *verb = context;

	per_unwritten(verb, per_file_flush(verb->per_file, gone));
}

static int open_per(struct heap_verb *verb)
{
	const struct options *options = verb->session->options;
	const bool has_file = options->per_json;
	int err = 0;

	if (options->verb != VERB_HEAP || filter_is_empty(options->entries))
		return 0;
	if (has_file)
		err = per_file_new(options->per_json, &verb->session->policy,
				   &verb->per_file);
	if (err)
		return complain(err, "%s can't be written: %s",
				options->per_json, strerror(-err));
	verb->per = per_calls_new(&(struct per_calls_options){
		.functions = options->entries,
		.usable = usable,
		.told = has_file ? per_told : NULL,
		.flush = has_file ? per_flush : NULL,
		.context = verb,
	});
	verb->session->sinks = per_calls_sink(verb->per);
	return 0;
}

static void add_sink(struct session *session, struct sink *sink)
{
	struct sink **end = &session->sinks;

	while (*end)
		end = &(*end)->next;
	*end = sink;
}

static void open_watch(struct heap_verb *verb)
{
	const struct watch_options options = {
		.families = verb->families,
		.stacks = verb->session->stacks,
		.component = verb->components ? heap_verb_component : NULL,
		.cost = find_cost,
		.own_memory = find_own_memory,
		.ended = heap_verb_ended,
		.context = verb,
		.timeline = verb->session->options->verb == VERB_TOP ||
			    verb->session->options->http ||
			    heap_export_needs_timeline(
				    &verb->session->options->export),
		.sample = options_sample(verb->session->options),
		.adapts = verb->session->options->max_overhead,
		.kept = options_sample(verb->session->options) ? kept : NULL,
		.observer = observer_of(verb),
		.timed = verb->session->options->heap_calls ||
			 verb->session->options->time_releases,
		.waits = verb->per,
		.growth = verb->session->options->report.growth,
		.growth_by = verb->session->options->report.growth_by,
		.drain = drain,
	};

	verb->watch = watch_new(&options);
	heap_overhead_begin(verb);
	/* Whose reports are made before others forget a process. */
	watch_sink(verb->watch)->next = verb->session->sinks;
	verb->session->sinks = watch_sink(verb->watch);
	if (verb->journal)
		add_sink(verb->session, heap_journal_sink(verb->journal));
	if (verb->recorder)
		add_sink(verb->session, recorder_sink(verb->recorder));
}

static struct progress *new_progress(const struct heap_verb *verb)
{
	const struct options *options = verb->session->options;

	return progress_new(&(struct progress_options){
		.stacks = verb->session->stacks,
		.namer = verb->namer,
		.blocks = heap_report_has_blocks(&options->report),
		.growth = options->report.growth,
		.duration = options->duration,
		.interruptible = options->pid_count,
	});
}

int heap_verb_open_reports(struct heap_verb *verb)
{
	const struct session *session = verb->session;
	const struct namer_options naming = {
		.demangle = true,
		.debuginfo = session->debuginfo,
	};
	int err = read_components(verb);

	if (!err)
		err = read_suppressions(verb);
	if (err)
		return err;
	verb->namer = namer_new(&naming);
	verb->wrappers = wrappers_new(session->options->wrappers);
	verb->progress = new_progress(verb);
	return open_report(verb);
}

/*
 * What is recorded is reported with the recording's clock, live as well: asked once
 * more, it would be some time off.
 */
static uint64_t wall_offset_of(const struct options *options)
{
	return options->recording ? clock_wall(0) : 0;
}

int heap_verb_open(struct heap_verb *verb)
{
	int err;

	verb->config.wall_offset = wall_offset_of(verb->session->options);
	verb->families = families_new();
	err = read_families(verb);
	if (!err)
		err = open_per(verb);
	if (!err)
		err = heap_verb_open_reports(verb);
	if (err)
		return err;
	signals_take();
	err = open_recorder(verb);
	if (!err)
		err = heap_verb_open_journal(verb);
	if (err)
		return err;
	err = serve_new(verb, &verb->serve);
	if (err)
		return err;
	open_watch(verb);
	return verb->session->options->verb == VERB_TOP ?
		       top_new(verb, &verb->top) :
		       0;
}
