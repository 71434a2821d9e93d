/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_verb.h"

#include <stdlib.h>
#include <string.h>

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
	int err;

	if (!heap_report_has_blocks(&options->report))
		return 0;
	err = family_path_load(verb->families, "malloc");
	if (!err)
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
static unsigned find_component(void *context, stack_id stack,
			       const char *library)
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
		.options = &verb->session->options->report,
		.stacks = verb->session->stacks,
		.families = verb->families,
		.namer = verb->namer,
		.suppressions = verb->suppressions,
		.policy = &verb->session->report_policy,
	};
	if (verb->components)
		config->components = components_names(
			verb->components, &config->component_count);
	err = heap_report_new(config, &verb->report);
	return err ? complain(err, "%s can't be written: %s",
			      heap_verb_output(verb), strerror(-err)) :
		     0;
}

/* Each call, in files of its own. */
static int open_journal(struct heap_verb *verb)
{
	struct session *session = verb->session;
	const struct options *options = session->options;
	const struct heap_journal_options journal = {
		.calls = {
			.path = options->heap_calls,
			.config = &verb->config,
			.demangle = options->log.demangle,
			.component = verb->components ? find_component : NULL,
			.context = verb,
			.policy = &session->policy,
		},
		.footprint = options->footprint,
		.told = heap_verb_unwritten,
		.context = verb,
	};

	if (!options->heap_calls && !options->footprint)
		return 0;
	return heap_journal_new(&journal, &verb->journal);
}

/* What a process has cost is known as long as it is traced. */
static struct watched_cost find_cost(void *context, pid_t pid)
{
	const struct heap_verb *verb = context;
	const struct tracee *tracee;

	HASH_FIND_INT(verb->session->tracer.tracees, &pid, tracee);
	return tracee ? (struct watched_cost){ tracee->stops,
					       tracee->stopped_ns } :
			(struct watched_cost){ 0 };
}

static void drain(void *context)
{
	const struct heap_verb *verb = context;

	if (verb->faults)
		faults_drain(verb->faults);
}

static void open_watch(struct heap_verb *verb)
{
	struct heap_journal *journal = verb->journal;
	const struct watch_options options = {
		.families = verb->families,
		.stacks = verb->session->stacks,
		.component = verb->components ? find_component : NULL,
		.cost = find_cost,
		.ended = heap_verb_ended,
		.context = verb,
		.timeline = heap_export_needs_timeline(
			&verb->session->options->export),
		.observer = journal ? heap_journal_observer(journal) : NULL,
		.timed = verb->session->options->heap_calls,
		.growth = verb->session->options->report.growth,
		.growth_by = verb->session->options->report.growth_by,
		.drain = drain,
	};

	verb->watch = watch_new(&options);
	verb->session->sinks = watch_sink(verb->watch);
	if (journal)
		verb->session->sinks->next = heap_journal_sink(journal);
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

int heap_verb_open(struct heap_verb *verb)
{
	const struct session *session = verb->session;
	const struct namer_options naming = {
		.demangle = true,
		.debuginfo = session->debuginfo,
	};
	int err;

	verb->families = families_new();
	err = read_families(verb);
	if (!err)
		err = read_components(verb);
	if (!err)
		err = read_suppressions(verb);
	if (err)
		return err;
	verb->namer = namer_new(&naming);
	verb->progress = new_progress(verb);
	signals_take();
	err = open_report(verb);
	if (!err)
		err = open_journal(verb);
	if (!err)
		open_watch(verb);
	return err;
}
