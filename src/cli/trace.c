/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cli/complain.h"
#include "cli/session.h"
#include "report/log.h"
#include "report/summary.h"

/* The default verb: a log of calls, or a table of them. */

static const char *trace_output(const struct session *session)
{
	const char *path = session->options->log.path;

	return path ? path : "the log";
}

static int trace_open(struct session *session)
{
	const struct options *options = session->options;
	struct log_options log = options->log;
	struct summary_options summary = {
		.path = options->log.path,
		.demangle = options->log.demangle,
		.quantiles = options->log.durations,
	};
	int err;

	log.hurry = &session->requests->leave;
	log.stacks = session->stacks;
	log.debuginfo = session->debuginfo;
	err = options->count ? summary_new(&summary, &session->sinks) :
			       log_new(&log, &session->sinks);
	if (err)
		return complain(err, "%s can't be written: %s",
				trace_output(session), strerror(-err));
	return 0;
}

static void trace_configure(struct session *session,
			    struct prober_config *config)
{
	const struct options *options = session->options;

	config->calls = options->calls;
	config->default_calls = options->default_calls;
	config->libraries = options->libraries;
	config->entries = options->entries;
	config->system_calls = options->system_calls;
	config->debuginfo = options->count ? NULL : session->debuginfo;
	config->stack_depth = options->count ? 0 : options->log.where;
}

const struct verb_ops trace_verb = {
	.open = trace_open,
	.configure = trace_configure,
	.output = trace_output,
};
