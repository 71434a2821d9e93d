/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session_report.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/printable.h"
#include "cli/complain.h"
#include "report/format/amounts.h"
#include "report/format/cost_text.h"

/* Somebody may have thought that it would end. */
static void tell_detached(const struct session *session)
{
	if (session->requests->leave && session->left && session->child &&
	    !session->child_ended)
		diag(DIAG_NOTE, DIAG_SESSION,
		     "process %d was let go, and goes on", (int)session->child);
}

static void report_lost_traps(const struct session *session)
{
	const double blind = session->blind_ns / 1e9;

	if (session->requests->lifted)
		complain(0,
			 "calltrap itself was stopped for longer than a "
			 "second: its traps were lifted meanwhile, calls "
			 "went by unseen for up to %.1f s, and what it "
			 "traced was let go of",
			 blind);
	else if (session->lost_traps)
		complain(0,
			 "%llu %s taken away by another tool (do perf or "
			 "bpftrace have uprobes there?) and put back; "
			 "calls went by unseen for up to %.1f s",
			 (unsigned long long)session->lost_traps,
			 session->lost_traps == 1 ? "trap was" : "traps were",
			 blind);
}

static void report_stacks(const struct session *session)
{
	const struct unwind_counts counts = unwind_counts(session->unwinder);
	const uint64_t *frames = counts.frames;

	if (counts.broken)
		complain(0,
			 "%llu of %llu stack%s could not be followed to "
			 "%s end",
			 (unsigned long long)counts.broken,
			 (unsigned long long)counts.stacks,
			 counts.stacks == 1 ? "" : "s",
			 counts.broken == 1 ? "its" : "their");
	diag_debug(DIAG_SESSION,
		   "%llu stacks, %llu cut, %llu broken; frames: %llu by "
		   "entry, %llu by tables, %llu by frame pointer, %llu by "
		   "signal; %zu nodes of %zu bytes",
		   (unsigned long long)counts.stacks,
		   (unsigned long long)counts.cut,
		   (unsigned long long)counts.broken,
		   (unsigned long long)frames[FRAME_ENTRY],
		   (unsigned long long)frames[FRAME_CFI],
		   (unsigned long long)frames[FRAME_POINTER],
		   (unsigned long long)frames[FRAME_SIGNAL],
		   stacks_nodes(session->stacks),
		   stacks_bytes(session->stacks));
}

static void report_debuginfo(const struct session *session)
{
	const struct debuginfo_losses losses =
		debuginfo_losses(session->debuginfo);
	const uint64_t lost =
		losses.crashed + losses.timed_out + losses.malformed;

	if (lost)
		complain(0,
			 "the debug information of %llu file%s could not be "
			 "read: %llu crashed its reader, %llu took too "
			 "long, %llu can't be understood",
			 (unsigned long long)lost, lost == 1 ? "" : "s",
			 (unsigned long long)losses.crashed,
			 (unsigned long long)losses.timed_out,
			 (unsigned long long)losses.malformed);
}

static void report_what_was_missed(const struct session *session)
{
	uint64_t dropped =
		session->policy.dropped + session->report_policy.dropped;
	uint64_t messages = complain_dropped();

	if (dropped)
		complain(0,
			 "%llu lines were dropped, as nobody took them within "
			 "0.2 s (--when-full=wait waits, and so does what "
			 "is traced)",
			 (unsigned long long)dropped);
	if (messages)
		complain(0, "%llu messages were dropped, as nobody took them",
			 (unsigned long long)messages);
	if (session->pauses)
		complain(0,
			 "it was stopped %u times: for %.1f s in all nothing "
			 "was watched",
			 session->pauses, session->paused_ns / 1e9);
}

static void report_pages(const struct session *session)
{
	if (session->own_pages)
		complain(0,
			 "%llu pages of code (%.1f MB) stay private memory "
			 "of what was let go of: they equal their files "
			 "again, but only the process itself could give "
			 "them back",
			 (unsigned long long)session->own_pages,
			 session->own_pages * PAGE_SIZE / 1e6);
}

bool session_tell_refused(const struct session *session, struct strbuf *out)
{
	if (!prober_tell_refused(session->prober,
				 session->tracer.counts.traps_failed, out))
		return false;
	/* Names are as the target's files have them. */
	printable_make(out->text, out->length);
	return true;
}

static void report_losses(struct session *session)
{
	struct prober_counts counts = prober_counts(session->prober);
	CLEANUP(strbuf_fini) struct strbuf refused = { 0 };

	if (counts.failed_returns)
		complain(0,
			 "%llu call%s seen without return: it could not be "
			 "trapped",
			 (unsigned long long)counts.failed_returns,
			 counts.failed_returns == 1 ? " was" : "s were");
	if (session_tell_refused(session, &refused))
		complain(0, "%s", strbuf_text(&refused));
	report_lost_traps(session);
	if (session->tracer.counts.unfollowed)
		complain(0,
			 "%llu children could not be followed: too few "
			 "descriptors are left (ulimit -n)",
			 (unsigned long long)session->tracer.counts.unfollowed);
	diag_debug(DIAG_SESSION,
		   "%llu calls, %llu stops; passed: %llu emulated, %llu "
		   "copied, %llu stepped",
		   (unsigned long long)counts.calls,
		   (unsigned long long)session->tracer.counts.stops,
		   (unsigned long long)session->tracer.counts.emulated,
		   (unsigned long long)session->tracer.counts.copied,
		   (unsigned long long)session->tracer.counts.stepped);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void add_refusals(const struct agent_engine_report *report,
			 const char *reason, struct strbuf *out)
{
	const struct agent_engine_refusal *refusals = report->refusals;
	const char *before = " (";
	unsigned i;

	if (reason && !refusals[0].functions) {
		strbuf_printf(out, "%s%s", before, reason);
		before = ", ";
	}
	for (i = 0; i < AGENT_ENGINE_REFUSALS && refusals[i].functions; i++) {
		strbuf_printf(out, "%s%s: %u", before, refusals[i].reason,
			      refusals[i].functions);
		before = ", ";
	}
	if (*before == ',')
		strbuf_putc(out, ')');
}

static void add_what_stays(const struct agent_engine_report *report,
			   struct strbuf *out)
{
	if (!report->addresses)
		return;
	strbuf_puts(out, "; ");
	amounts_add_size(out, report->code);
	strbuf_puts(out, " of code and ");
	amounts_add_size(out, report->addresses);
	strbuf_puts(out, " of addresses stay there, unused");
}

/*
 * Whoever has asked for the agent is to know in any case; of programs that were
 * started for their log it says nothing that matters, unless something stays.
 */
static bool wants_engines(const struct session *session,
			  const struct agent_engine_report *report)
{
	const struct options *options = session->options;

	if (options->engine == ENGINE_AGENT || report->addresses)
		return true;
	return (report->functions || report->reason) &&
	       (options->verb != VERB_TRACE || options->count ||
		options->pid_count);
}

static void tell_engines(const struct session *session,
			 const struct agent_engine_report *report,
			 const char *reason)
{
	const struct prober_counts counts = prober_counts(session->prober);
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_printf(&text,
		      "caught: %u function%s in the process, %llu by "
		      "traps alone",
		      report->functions, plural(report->functions),
		      (unsigned long long)(counts.probes - report->functions));
	add_refusals(report, reason, &text);
	if (report->calls) {
		strbuf_puts(&text, "; ");
		amounts_add_count(&text, report->calls, "call");
		strbuf_puts(&text, " in the process, ");
		amounts_add_number(&text, counts.calls > report->calls ?
						  counts.calls - report->calls :
						  0);
		strbuf_puts(&text, " by traps");
	}
	add_what_stays(report, &text);
	if (session->options->engine == ENGINE_AGENT)
		complain(0, "%s", strbuf_text(&text));
	else if (wants_engines(session, report))
		diag(DIAG_NOTE, DIAG_SESSION, "%s", strbuf_text(&text));
}

/* How many ways calls were caught, if there was more than one to choose. */
static void report_engines(const struct session *session)
{
	struct agent_engine_report report = { 0 };
	const char *reason = session->no_agent;

	if (session->options->engine == ENGINE_TRAP)
		return;
	if (session->agent) {
		report = agent_engine_report(session->agent);
		reason = report.reason;
	}
	if (report.lost)
		complain(0, "%llu %s not recorded, as there was no room",
			 (unsigned long long)report.lost,
			 report.lost == 1 ? "call was" : "calls were");
	if (report.unmarked)
		complain(0,
			 "%llu blocks could not be marked, as there were too "
			 "many: of some it isn't known when they were released",
			 (unsigned long long)report.unmarked);
	if (report.blind)
		complain(0,
			 "calls went by unseen %llu times, as calltrap had "
			 "given no sign of life for a second",
			 (unsigned long long)report.blind);
	tell_engines(session, &report, reason);
}

/* By the agent's own clock. */
static void add_hooks_cost(const struct session *session, struct strbuf *out)
{
	const struct agent_engine_report report =
		agent_engine_report(session->agent);

	if (report.ns <= 0)
		return;
	strbuf_printf(out,
		      "; each call that was caught in the process took it "
		      "%.0f ns more, in all ",
		      report.ns);
	amounts_add_duration(out,
			     (uint64_t)(report.ns *
					(double)(report.calls + report.lost)));
	strbuf_puts(out, " of its processors' time");
	if (report.waited_ns) {
		strbuf_puts(out, "; its threads waited ");
		amounts_add_duration(out, report.waited_ns);
		strbuf_puts(out, " for room in their buffers");
	}
}

/*
 * Whoever reads a log wants the program's own lines, and with -o standard error
 * is for what went wrong.
 */
static void report_cost(struct session *session)
{
	const struct options *options = session->options;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct cost cost;

	if (options->verb != VERB_TRACE || options->log.path ||
	    !options->log.dialect->explains)
		return;
	cost_find(&session->tracer, 0, clock_now(), &cost);
	cost.stops = session->tracer.counts.stops;
	if (!options->count && !options->pid_count &&
	    (!cost.thread_count || cost.threads[0].seen_ns < NS_PER_SECOND))
		return;
	cost_text_add(&cost, &text);
	if (session->agent)
		add_hooks_cost(session, &text);
	complain(0, "cost: %s", strbuf_text(&text));
}

void session_report(struct session *session)
{
	report_cost(session);
	report_engines(session);
	report_losses(session);
	report_what_was_missed(session);
	report_pages(session);
	if (session->unwinder)
		report_stacks(session);
	report_debuginfo(session);
	tell_detached(session);
}
