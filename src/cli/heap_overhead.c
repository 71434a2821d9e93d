/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/heap_verb.h"
#include "heap/watch.h"
#include "probe/agent_engine.h"
#include "tracee/tracer.h"

/* --max-overhead: what it costs is looked at so often. */
#define PAUSE (NS_PER_SECOND / 16)

/* No mean is larger: dice know numbers of 40 bits. */
#define MOST (UINT64_C(1) << 39)

static struct stop_sums stops_of(const struct tracer *tracer)
{
	const struct tracee *tracee, *next;
	struct stop_sums sums = { 0 };

	HASH_ITER(hh, tracer->tracees, tracee, next) {
		sums.count += tracee->stops;
		sums.stopped_ns += tracee->stopped_ns;
	}
	return sums;
}

/* Of late: those of the attach, in which symbols are read, take a thousand times
   as long. One that has ended is in no sum any more. */
static uint64_t price_of_stop(struct heap_verb *verb)
{
	const struct stop_sums then = verb->overhead_stops;
	const struct stop_sums now = stops_of(&verb->session->tracer);

	verb->overhead_stops = now;
	if (now.count > then.count && now.stopped_ns >= then.stopped_ns)
		verb->overhead_stop_ns = (now.stopped_ns - then.stopped_ns) /
					 (now.count - then.count);
	return verb->overhead_stop_ns + verb->session->tracer.price.now.mean;
}

/* … since it was asked last. */
static uint64_t new_calls(struct heap_verb *verb)
{
	const uint64_t before = verb->overhead_calls;

	verb->overhead_calls = agent_engine_chosen_stops(verb->session->agent);
	return verb->overhead_calls - before;
}

/*
 * What is kept alone: by the hooks' own clock, and by ours where calls that
 * were chosen stopped: twice each, most often. Other stops are the same whatever
 * the rate is.
 */
static struct overhead_sums sums_of(struct heap_verb *verb)
{
	struct overhead_sums sums = { 0 };
	const struct watched *process;

	verb->overhead_calls_ns += new_calls(verb) * 2 * price_of_stop(verb);
	sums.cost_ns = agent_engine_lost_ns(verb->session->agent) +
		       verb->overhead_calls_ns;
	for (process = watch_next(verb->watch, NULL); process;
	     process = watch_next(verb->watch, process)) {
		const size_t held = heap_live_count(process->heap);

		sums.used_ns += clock_of_process(process->pid);
		sums.held = held > sums.held ? held : sums.held;
	}
	return sums;
}

static void set_rate(struct heap_verb *verb, uint64_t now)
{
	const unsigned rate = verb->overhead.rate;

	watch_set_rate(verb->watch, rate, now);
	agent_engine_set_rate(verb->session->agent, rate);
}

void heap_overhead_begin(struct heap_verb *verb)
{
	const struct options *options = verb->session->options;
	struct overhead *overhead = &verb->overhead;
	const uint64_t sample = options_sample(options);

	if (!options->max_overhead)
		return;
	*overhead = (struct overhead){
		.most = options->max_overhead / 100.0,
		.rate = overhead_first_rate(sample),
		.rates = AGENT_ENGINE_RATES,
		.room = AGENT_ENGINE_MARKS,
	};
	while (overhead->rates > 1 && sample > MOST >> (overhead->rates - 1))
		overhead->rates--;
	watch_set_rate(verb->watch, overhead->rate, clock_now());
}

void heap_overhead_look(struct heap_verb *verb, uint64_t now)
{
	struct overhead_sums sums;

	if (!verb->overhead.most || !verb->session->agent ||
	    now < verb->next_overhead)
		return;
	sums = sums_of(verb);
	if (!verb->next_overhead)
		verb->overhead.then = sums;
	else if (overhead_look(&verb->overhead, &sums))
		set_rate(verb, now);
	verb->next_overhead = now + PAUSE;
}

/* Where the agent has caught nothing, calls stopped whatever was kept of them. */
static bool is_by_agent(const struct agent_engine *agent)
{
	return agent && agent_engine_report(agent).functions;
}

void heap_overhead_tell(const struct heap_verb *verb)
{
	const struct overhead *overhead = &verb->overhead;

	if (!overhead->most)
		return;
	if (!is_by_agent(verb->session->agent))
		complain(0, "--max-overhead: all calls were caught by traps, "
			    "which cost the same whatever is kept");
	else if (overhead->own_ns)
		complain(0,
			 "cost: %.2f %% of the program's time on processors, "
			 "of %u %% allowed",
			 100.0 * (double)overhead->cost_ns /
				 (double)overhead->own_ns,
			 verb->session->options->max_overhead);
}
