/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session_agent.h"

#include "cli/overhead.h"
#include "report/file/prompt_file.h"
#include "report/format/dialect.h"

/* Releases are told before they are made, acquisitions after, with stacks. */
static bool keeps_acts(const struct options *options)
{
	return options->verb == VERB_HEAP || options->verb == VERB_RECORD;
}

/*
 * Where nobody may keep us waiting: threads that are stopped meanwhile can't
 * even handle a signal.
 */
static bool may_hold(const struct options *options)
{
	const char *const written[] = {
		options->heap_calls,
		options->per_json,
		options->footprint,
		options->recording,
	};

	if (!keeps_acts(options))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(written); i++)
		if (written[i] && !file_is_prompt(written[i]))
			return false;
	return true;
}

/* Why the agent is not asked for calls; NULL: it is. */
static const char *no_agent(const struct options *options,
			    const struct prober_config *config)
{
	if (options->engine == ENGINE_TRAP)
		return "--engine=trap";
	if (options->time_releases)
		return "--time-releases";
	/* Its own memory would be told of as the program's. */
	if (options->engine == ENGINE_AUTO && options->report.growth)
		return "--growth";
	if (config->stack_depth > AGENT_ENGINE_DEPTH)
		return keeps_acts(options) ? "--depth" : "-w";
	if (keeps_acts(options))
		return NULL;
	if (options->verb != VERB_TRACE)
		return "not heap";
	if (options->log.dialect != &dialect_own)
		return "--ltrace";
	return config->scripts ? "--script" : NULL;
}

/* A reader keeps us; hooks are not to take that for the end. */
static void show_life(void *context)
{
	agent_engine_live(context);
}

static void missed(void *context, pid_t pid, uint64_t calls, uint64_t since,
		   uint64_t now)
{
	struct session *session = context;

	if (session->verb->unwatched)
		session->verb->unwatched(session, pid, calls, since, now);
}

static void held(void *context, pid_t pid, agent_engine_visitor *visit,
		 void *visitor)
{
	struct session *session = context;

	if (session->verb->held)
		session->verb->held(session, pid, visit, visitor);
}

/*
 * By then traps have cost about as much as the way in does: who makes fewer calls
 * is left alone, and nobody pays more than twice for it.
 */
#define AUTO_LEAST_HITS 256

/* Of children: most end before the way in, some ten stops' time, is worth it. */
#define FOLLOWED_LEAST_HITS 32

static unsigned least_hits(const struct options *options)
{
	if (options->engine == ENGINE_AUTO)
		return AUTO_LEAST_HITS;
	return options->follow ? FOLLOWED_LEAST_HITS : 0;
}

void session_open_agent(struct session *session, struct prober_config *config)
{
	const struct options *options = session->options;

	session->no_agent = no_agent(options, config);
	if (session->no_agent)
		return;
	session->agent = agent_engine_new(&(struct agent_engine_config){
		.counts = sinks_take_counts(config->sinks),
		.durations = options->log.durations,
		.least_hits = least_hits(options),
		.waits = options->agent_waits,
		.holds = may_hold(options),
		.replaces_all = options->engine == ENGINE_AGENT,
		.string_bytes = options->log.limits.string_bytes,
		.array_elements = options->log.limits.array_elements,
		.watches = keeps_acts(options),
		.stops = config->script_stacks ||
			 (keeps_acts(options) &&
			  !filter_is_empty(options->entries)),
		.sample = keeps_acts(options) ? options_sample(options) : 0,
		.rate = options->max_overhead ?
				overhead_first_rate(options_sample(options)) :
				0,
		.held = held,
		.depth = config->stack_depth,
		.missed = missed,
		.context = session,
	});
	if (!session->agent) {
		session->no_agent = "there is none for this processor";
		return;
	}
	session->policy.waiting = session->report_policy.waiting = show_life;
	session->policy.context = session->report_policy.context =
		session->agent;
	config->engines = agent_engine_base(session->agent);
}
