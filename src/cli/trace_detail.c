/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/trace_detail.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "cli/complain.h"
#include "probe/agent_engine.h"
#include "sysdeps/linux/procfs.h"

#define PAUSE (NS_PER_SECOND / 16)

/* Children that were traced and have ended are in their parents' sums. */
static struct detail_sums sums_of(const struct session *session)
{
	const struct tracee *tracee, *next;
	struct detail_sums sums = { 0 };

	HASH_ITER(hh, session->tracer.tracees, tracee, next) {
		sums.used_ns += clock_of_process(tracee->pid);
		if (session->options->follow)
			sums.used_ns += procfs_children_ns(tracee->pid);
	}
	sums.spent_ns = agent_engine_spent_ns(session->agent, &sums.measured);
	return sums;
}

/* A table has neither texts nor stacks. */
static enum detail_level least_for(const struct options *options)
{
	if (options->count && !options->json)
		return DETAIL_ALL;
	return options->log.where ? DETAIL_NO_STACKS : DETAIL_NO_TEXTS;
}

void trace_detail_begin(struct trace_detail *own, struct session *session)
{
	const struct options *options = session->options;

	if (!options->max_overhead || !session->agent)
		return;
	own->detail.most = options->max_overhead / 100.0;
	own->detail.least = least_for(options);
	own->detail.then = sums_of(session);
	own->next = clock_now() + PAUSE;
	session->requests->alarm = own->next;
}

void trace_detail_look(struct trace_detail *own, struct session *session)
{
	const struct detail *detail = &own->detail;
	const uint64_t now = clock_now();

	if (!own->next)
		return;
	if (now >= own->next) {
		const struct detail_sums sums = sums_of(session);

		if (detail_look(&own->detail, &sums))
			agent_engine_leave_out(session->agent,
					       detail->level >= DETAIL_NO_TEXTS,
					       detail->level >=
						       DETAIL_NO_STACKS);
		own->next = now + PAUSE;
	}
	session->requests->alarm = own->next;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* What began behind the last look has no time that could be told. */
static void add_share(const struct detail *detail, uint64_t ns, bool is_first,
		      struct strbuf *out)
{
	if (!ns)
		strbuf_puts(out, ", at the end");
	else
		strbuf_printf(out, ", %.0f %%%s", percent(ns, detail->own_ns),
			      is_first ? " of the time" : "");
}

static void add_left_out(const struct detail *detail, struct strbuf *out)
{
	const uint64_t stacks = detail->at_ns[DETAIL_NO_STACKS];
	const uint64_t texts = detail->at_ns[DETAIL_NO_TEXTS] + stacks;

	if (detail->deepest == DETAIL_ALL) {
		strbuf_puts(out, "; nothing was left out");
		return;
	}
	strbuf_puts(out, "; left out: what arguments point to");
	add_share(detail, texts, true, out);
	if (detail->deepest < DETAIL_NO_STACKS)
		return;
	strbuf_puts(out, ", stacks beyond the caller");
	add_share(detail, stacks, false, out);
}

void trace_detail_tell(const struct trace_detail *own,
		       const struct session *session)
{
	const struct detail *detail = &own->detail;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!session->options->max_overhead)
		return;
	if (!session->agent || !agent_engine_report(session->agent).functions) {
		complain(0, "--max-overhead: all calls were caught by traps, "
			    "which cost the same whatever is left out");
		return;
	}
	if (!detail->own_ns) {
		complain(0,
			 "--max-overhead: the program used too little time, or "
			 "made too few calls, to say what they cost");
		return;
	}
	strbuf_printf(&text,
		      "calls that were caught in the process cost %.2f %% of "
		      "its time on processors, of %u %% allowed",
		      percent(detail->cost_ns, detail->own_ns),
		      session->options->max_overhead);
	add_left_out(detail, &text);
	if ((double)detail->cost_ns > detail->most * (double)detail->own_ns)
		strbuf_printf(&text, "; for less, name fewer functions (-x)%s",
			      session->options->count ? "" :
							", or count them (-c)");
	complain(0, "%s", strbuf_text(&text));
}
