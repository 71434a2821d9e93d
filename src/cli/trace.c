/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/session.h"
#include "cli/trace_detail.h"
#include "report/log/chosen.h"
#include "report/log/json.h"
#include "report/log/log.h"
#include "report/log/summary.h"

/* The default verb: a log of calls, or a table of them. */
struct trace_verb {
	struct sink *json; /* freed as the session's sink; or NULL */
	struct trace_detail detail;
};

static struct trace_verb *verb_of(const struct session *session)
{
	return session->verb_data;
}

static const char *log_output(const struct session *session)
{
	const char *path = session->options->log.path;

	return path ? path : "the log";
}

/* The one that can't be written. */
static const char *trace_output(const struct session *session)
{
	const struct sink *json = verb_of(session)->json;

	return json && json_has_failed(json) ? session->options->json :
					       log_output(session);
}

static int open_json(struct session *session)
{
	const struct options *options = session->options;
	struct json_options json = {
		.path = options->json,
		.demangle = options->log.demangle,
		.hide_signals = options->log.hide_signals,
		.where = options->log.where,
		.stacks = session->stacks,
		.debuginfo = session->debuginfo,
		.policy = &session->policy,
		.limits = options->log.limits,
	};
	struct sink *sink;
	int err;

	if (!options->json)
		return 0;
	err = json_new(&json, &sink);
	if (err)
		return complain(err, "%s can't be written: %s", options->json,
				strerror(-err));
	sink->next = session->sinks;
	session->sinks = sink;
	verb_of(session)->json = sink;
	return 0;
}

/* --if */
static void choose_calls(struct session *session)
{
	const struct options *options = session->options;

	if (options->condition)
		session->sinks = chosen_new(session->sinks, options->condition,
					    &options->log.limits);
}

static int trace_open(struct session *session)
{
	const struct options *options = session->options;
	struct log_options log = options->log;
	struct summary_options summary = {
		.path = options->log.path,
		.demangle = options->log.demangle,
		.quantiles = options->log.durations,
		.dialect = options->log.dialect,
		.first_thread = options->log.first_thread,
	};
	int err;

	session->verb_data = xcalloc(1, sizeof(struct trace_verb));
	log.policy = &session->policy;
	log.stacks = session->stacks;
	log.debuginfo = session->debuginfo;
	err = options->count ? summary_new(&summary, &session->sinks) :
			       log_new(&log, &session->sinks);
	if (err)
		return complain(err, "%s can't be written: %s",
				log_output(session), strerror(-err));
	err = open_json(session);
	if (!err)
		choose_calls(session);
	return err;
}

static void trace_configure(struct session *session,
			    struct prober_config *config)
{
	const struct options *options = session->options;

	config->calls = options->calls;
	config->default_calls = options->default_calls;
	config->libraries = options->libraries;
	config->entries = options->entries;
	config->system_entries = !options->system_calls &&
				 filter_has_system(options->entries);
	config->system_calls = options->system_calls || config->system_entries;
	config->resolvers = options->log.dialect->resolvers;
	config->clocked = options->count && !options->json;
	/* The table alone has no use for them. */
	if (options->count && !options->json && !options->condition)
		return;
	if (options->log.dialect->debuginfo)
		config->debuginfo = session->debuginfo;
	config->stack_depth = options->log.where;
	config->scripts = options->script;
}

static void trace_begun(struct session *session)
{
	trace_detail_begin(&verb_of(session)->detail, session);
}

static void trace_woken(struct session *session)
{
	trace_detail_look(&verb_of(session)->detail, session);
}

static void trace_finished(struct session *session)
{
	trace_detail_tell(&verb_of(session)->detail, session);
}

static void trace_close(struct session *session)
{
	free(session->verb_data);
}

const struct verb_ops trace_verb = {
	.open = trace_open,
	.configure = trace_configure,
	.begun = trace_begun,
	.woken = trace_woken,
	.finished = trace_finished,
	.close = trace_close,
	.output = trace_output,
};
