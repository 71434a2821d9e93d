/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session.h"
#include "cli/overhead.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/account.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "cli/attach_all.h"
#include "cli/complain.h"
#include "cli/crash.h"
#include "cli/front.h"
#include "cli/outputs.h"
#include "cli/pause.h"
#include "cli/prototype_path.h"
#include "report/format/amounts.h"
#include "report/format/cost_text.h"
#include "sysdeps/linux/descriptors.h"
#include "sysdeps/linux/freezer.h"
#include "tracee/gauge.h"
#include "tracee/launch.h"
#include "tracee/loop.h"

/* ---- a sink of its own: the command's exit, and output to be flushed ---- */

static struct session *session_of(struct sink *watcher)
{
	return (struct session *)((char *)watcher -
				  offsetof(struct session, watcher));
}

static int watch_event(struct sink *sink, const struct event *event)
{
	struct session *session = session_of(sink);

	if (event->kind == EVENT_EXIT && event->pid == session->child) {
		session->child_ended = true;
		session->child_status = event->status;
	}
	signals_tick();
	return 0;
}

static int watch_count(struct sink *sink UNUSED,
		       const struct call_count *count UNUSED)
{
	return 0;
}

static int watch_finish(struct sink *sink)
{
	(void)sink;
	return 0;
}

static void watch_free(struct sink *sink)
{
	(void)sink;
}

static const struct sink_ops watcher_ops = {
	.event = watch_event,
	.count = watch_count,
	.finish = watch_finish,
	.free = watch_free,
};

/* ---- setting up ---- */

/* Releases are told before they are made, acquisitions after, with stacks. */
static bool keeps_acts(const struct options *options)
{
	return options->verb == VERB_HEAP || options->verb == VERB_RECORD;
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
		return options->follow ? "-f" : NULL;
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

static void missed(void *context, pid_t pid, uint64_t since, uint64_t now)
{
	struct session *session = context;

	if (session->verb->unwatched)
		session->verb->unwatched(session, pid, since, now);
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

static void open_agent(struct session *session, struct prober_config *config)
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
		.string_bytes = options->log.limits.string_bytes,
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

static void open_prober(struct session *session)
{
	struct prober_config config = {
		.prototypes = session->prototypes,
		.entries_option = "-x",
		.sinks = &session->watcher,
		.wake = &session->requests->wake,
	};
	struct event_source *source = NULL;

	session->watcher.ops = &watcher_ops;
	session->watcher.next = session->sinks;
	session->verb->configure(session, &config);
	if (config.stack_depth) {
		session->unwinder = unwinder_new(session->stacks);
		config.stacks = session->stacks;
		config.unwinder = session->unwinder;
	}
	open_agent(session, &config);
	session->prober = prober_new(&config);
	session->tracer.system_calls = config.system_calls;
	if (session->verb->source)
		source = session->verb->source(session);
	if (source)
		source_add(&session->tracer, source);
	if (session->agent)
		source_add(&session->tracer,
			   agent_engine_source(session->agent));
}

/* For each round of tracing another one: what was traced in the round before
   is nobody's any more. */
static void open_tracer(struct session *session)
{
	struct tracer before = session->tracer;

	if (session->pause)
		tracer_fini(&session->tracer);
	tracer_init(&session->tracer, prober_client(session->prober),
		    session->options->follow);
	session->tracer.system_calls = before.system_calls;
	session->tracer.sources = before.sources;
	session->tracer.counts = before.counts;
}

static void restore_code(void *context)
{
	struct session *session = context;

	leave_in_need(&session->tracer);
	if (session->verb->in_need)
		session->verb->in_need(session);
}

/* ---- what is to be traced ---- */

static int find_user(const char *name, struct launch_user *ret)
{
	ret->name = name;
	if (!account_find(name, &ret->uid, &ret->gid))
		return complain(-EINVAL, "-u %s: no such user", name);
	return 0;
}

/*
 * The first Ctrl-C of a terminal goes to the program that was started too; it
 * is for that to decide what it means. One that ignores it as we were told to
 * (a background job of a script) has decided: the signal is for us.
 */
static int start_command(struct session *session)
{
	const struct options *options = session->options;
	struct launch_user user;
	struct launch_config config = {
		.command = options->command,
		.user = options->user ? &user : NULL,
		.inheritance = &session->inheritance,
		.leave = &session->requests->leave,
	};
	char *message;
	int err;

	if (options->user && find_user(options->user, &user))
		return -EINVAL;
	session->requests->tolerated =
		!(session->inheritance.ignored & 1ull << (SIGINT - 1));
	err = launch(&session->tracer, &config, &session->child, &message);
	if (message)
		complain(err, "%s", message);
	free(message);
	return err;
}

static int begin(struct session *session)
{
	bool any;

	if (session->pause)
		return pause_end(session);
	any = attach_all(session);
	if (session->options->command && start_command(session))
		return -ENOENT;
	return any || session->options->command ? 0 : -ESRCH;
}

/* ---- running and leaving ---- */

/* Looking at many traps may take no more than a hundredth of the time. */
#define LOOK_EVERY NS_PER_SECOND
#define LOOK_SHARE 100

static void look_at(struct session *session, const struct tracee *tracee,
		    uint64_t now)
{
	struct lost_traps lost;

	if (tracee->borrows || tracee->copied)
		return;
	lost = lost_traps_restore(tracee->space, session->last_look);
	if (!lost.count)
		return;
	session->lost_traps += lost.count;
	session->blind_ns += now > lost.since ? now - lost.since : 0;
	if (session->verb->missed)
		session->verb->missed(session, tracee->pid, &lost, now);
}

static void look_at_traps(struct session *session)
{
	struct tracee *tracee, *next;
	uint64_t now = clock_now(), took;

	HASH_ITER(hh, session->tracer.tracees, tracee, next)
		look_at(session, tracee, now);
	took = clock_now() - now;
	session->last_look = now;
	session->next_look = now + (took * LOOK_SHARE > LOOK_EVERY ?
					    took * LOOK_SHARE :
					    LOOK_EVERY);
}

/* The verb may have set an alarm, too: the earlier one counts. */
static void set_look(struct session *session)
{
	struct signal_requests *requests = session->requests;

	if (clock_now() >= session->next_look)
		look_at_traps(session);
	if (!requests->alarm || requests->alarm > session->next_look)
		requests->alarm = session->next_look;
	signals_rest();
}

static bool asked_to_leave(const struct session *session)
{
	return session->requests->leave || prober_error(session->prober);
}

static bool is_held(const struct tracee *tracee)
{
	const struct task *task;

	for_each_task_of(tracee, task)
		if (task->leaving)
			return true;
	return false;
}

/* Somebody will want to know why that process is still traced. */
static void tell_held(const struct session *session)
{
	const struct tracee *tracee, *next;

	HASH_ITER(hh, session->tracer.tracees, tracee, next) {
		bool frozen = freezer_has_frozen("", tracee->pid);

		if (is_held(tracee))
			complain(0,
				 "process %d can't be let go of yet: %s. "
				 "Its code is restored; process %d (" FRONT_WORKER_NAME
				 ") holds on to it until then, and must "
				 "not be killed",
				 (int)tracee->pid,
				 frozen ? "it is frozen, and has to be thawed" :
					  "some of its threads don't run, and "
					  "have to be waited for",
				 (int)getpid());
	}
}

/* Of a process; fewer aren't worth a word: those are a few libraries. */
#define MANY_PAGES 256

static void count_pages(struct session *session)
{
	const struct tracee *tracee, *next;

	HASH_ITER(hh, session->tracer.tracees, tracee, next) {
		uint64_t pages = tracee->borrows ? 0 :
						   trap_pages(tracee->space);

		if (pages >= MANY_PAGES)
			session->own_pages += pages;
	}
}

static void leave(struct session *session)
{
	count_pages(session);
	session->left = true;
	signals_tick();
	prober_abandon_all(session->prober, &session->tracer);
	session->holds_on = !leave_all(&session->tracer, &session->late);
	if (session->holds_on)
		tell_held(session);
}

/* Without the front nobody would see it end: so it ends as if killed itself. */
static void end_started(const struct session *session)
{
	const struct tracee *tracee, *next;

	HASH_ITER(hh, session->tracer.tracees, tracee, next)
		if (tracee->started)
			(void)kill(tracee->pid, SIGKILL);
}

static void set_deadline(struct session *session)
{
	if (session->options->duration && !session->requests->deadline)
		session->requests->deadline =
			clock_now() + session->options->duration;
}

/* For how long, and how much of it, a target has to stand still to be told. */
#define STILL_TIME  NS_PER_SECOND
#define STILL_SHARE 0.5

/*
 * A program that was attached to has others that wait for it. They are to know
 * while there is something to be done about it.
 */
static void warn_if_still(struct session *session)
{
	const struct options *options = session->options;
	const struct thread_cost *most;
	struct cost cost;

	if (session->warned || !options->pid_count ||
	    !options->log.dialect->explains)
		return;
	cost_find(&session->tracer, 0, clock_now(), &cost);
	most = &cost.threads[0];
	if (!cost.thread_count || most->seen_ns < STILL_TIME)
		return;
	session->warned = cost_share(most) >= STILL_SHARE;
	if (session->warned)
		complain(0,
			 "the target stands still %.0f %% of the time "
			 "(process %d, %" PRIu64 " stops a second)%s",
			 100 * cost_share(most), (int)most->pid,
			 (uint64_t)(most->stops * NS_PER_SECOND /
				    most->seen_ns),
			 options->verb == VERB_TOP ?
				 "; q leaves" :
			 options->verb == VERB_TRACE ?
				 "; name functions with -L -x" :
				 "; end it with SIGINT, or soon with --for");
}

static void run(struct session *session)
{
	set_deadline(session);
	if (session->verb->begun && !session->begun)
		session->verb->begun(session);
	session->begun = true;
	session->last_look = clock_now();
	session->next_look = session->last_look + LOOK_EVERY;
	set_look(session);
	/* The command's exec: it waits for that, so no other stop will come. */
	loop_handle_queued(&session->tracer);
	while (loop_run(&session->tracer, &session->requests->wake)) {
		int err = sinks_flush(session->sinks);

		warn_if_still(session);
		signals_rest();
		session->requests->wake = 0;
		if (session->requests->front_gone)
			end_started(session);
		if (err || asked_to_leave(session)) {
			look_at_traps(session);
			if (session->verb->leaving)
				session->verb->leaving(session);
			leave(session);
			return;
		}
		if (session->requests->suspend) {
			look_at_traps(session);
			pause_begin(session);
			leave(session);
			return;
		}
		session->requests->alarm = 0;
		if (session->verb->woken)
			session->verb->woken(session);
		set_look(session);
	}
}

/*
 * All that has to do with ptrace. A program that waits in a system call is let
 * go of by the kernel when this thread ends; until then its next stop would
 * keep it (tracee/leave.c). So nothing that may take its time, like writing
 * results, comes here after leave().
 */
static void *trace(void *context)
{
	struct session *session = context;
	struct price_gauge gauge;

	if (!session->prober)
		open_prober(session);
	open_tracer(session);
	gauge_take(&gauge);
	price_init(&session->tracer.price, &gauge);
	fatal_set_hook(restore_code, session);
	crash_prepare();
	complain_hurry(session->policy.drops);
	if (!begin(session))
		run(session);
	else
		leave(session);
	complain_hurry(false);
	fatal_set_hook(NULL, NULL);
	crash_done();
	if (session->holds_on) {
		session->requests->deadline = session->requests->alarm = 0;
		signals_rest();
		sem_post(&session->traced);
		leave_late(&session->tracer, &session->late);
	}
	/* It would take the end of this thread for that of calltrap. */
	guardian_dismiss(session->tracer.guardian);
	session->tracer.guardian = NULL;
	sem_post(&session->traced);
	return NULL;
}

/* Its default is the limit for the stack (ulimit -s), which may be small. */
#define STACK_SIZE (8u << 20)

/*
 * Signals are for the thread that traces: they must interrupt its waits. It has
 * ended on return, unless session->holds_on.
 */
static int trace_in_thread(struct session *session)
{
	pthread_attr_t attr;
	sigset_t all, own;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &own);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &own);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sem_init(&session->traced, 0, 0);
	err = pthread_create(&session->thread, &attr, trace, session);
	pthread_attr_destroy(&attr);
	if (!err)
		sem_wait(&session->traced);
	if (!err && !session->holds_on) {
		pthread_join(session->thread, NULL);
		pthread_sigmask(SIG_SETMASK, &own, NULL);
	}
	return err ? complain(-err, "no thread can be had: %s", strerror(err)) :
		     0;
}

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

/*
 * Whoever reads a log wants the program's own lines, and with -o standard error
 * is for what went wrong.
 */
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

/*
 * Whoever has asked for the agent is to know in any case; of programs that were
 * started for their log it says nothing that matters, unless something stays.
 */
static bool wants_engines(const struct session *session,
			  const struct agent_engine_report *report)
{
	const struct options *options = session->options;

	if (options->engine == ENGINE_AGENT || report->stays)
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
	if (report->stays)
		strbuf_puts(&text, "; 36 KiB of code and some 140 MB of "
				   "addresses stay there, unused");
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

static int status_of_tracing(const struct session *session)
{
	int status = session->child_status;

	if (!session->options->log.dialect->keeps_status)
		return 0;
	if (!session->child)
		return prober_has_matched(session->prober) ?
			       0 :
			       EXIT_NOTHING_TRACED;
	if (session->left || !session->child_ended)
		return 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

/* A program that has failed itself has the better reason. */
static int exit_status(const struct session *session)
{
	int status = status_of_tracing(session);

	if (session->leaks)
		return session->options->leak_status;
	if (!status && session->unwritten)
		return EXIT_UNWRITTEN;
	return !status && session->holds_on ? EXIT_HOLDS_ON : status;
}

static void finish_sinks(struct session *session)
{
	int err = prober_error(session->prober);
	int finished = sinks_finish(session->sinks);

	if (!err)
		err = finished;
	if (!err)
		return;
	session->unwritten = true;
	complain(0, "%s can't be written any more: %s",
		 session->verb->output(session), strerror(-err));
}

static void finish(struct session *session)
{
	/* Nobody stands still any more. */
	session->policy.drops = session->report_policy.drops = false;
	debuginfo_wait_for_fetched(session->debuginfo,
				   &session->requests->interrupts);
	finish_sinks(session);
	prober_report_unmatched(session->prober);
	if (session->verb->finished)
		session->verb->finished(session);
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

/* One descriptor is kept for each process. */
static int raise_file_limit(const struct inheritance *inheritance)
{
	struct rlimit limit = inheritance->files;

	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= DESCRIPTORS_MIN)
		return 0;
	return complain(-EMFILE,
			"only %llu descriptors may be had (ulimit -n):"
			" calltrap needs %d",
			(unsigned long long)limit.rlim_cur, DESCRIPTORS_MIN);
}

static int open_session(struct session *session, const sigset_t *blocked)
{
	const struct options *options = session->options;
	int err;

	inheritance_save(&session->inheritance);
	session->inheritance.blocked = *blocked;
	err = raise_file_limit(&session->inheritance);
	session->requests = signals_start(blocked);
	session->policy = (struct output_policy){
		.hurry = &session->requests->leave,
		.drops = options->when_full == WHEN_FULL_DROP,
	};
	session->report_policy.drops = session->policy.drops;
	/* A program that was started is stopped by the terminal as well. */
	if (session->policy.drops && !options->command)
		signals_take_stop();
	session->prototypes = prototypes_new();
	session->debuginfo = debuginfo_new();
	session->stacks = stacks_new();
	if (!err)
		prototype_path_load(session->prototypes, options->configs,
				    options->log.dialect != &dialect_own);
	if (!err)
		err = outputs_try(options);
	return err ? err : session->verb->open(session);
}

/* The user gets his prompt back; what others of us look at stays in memory. */
static NO_RETURN void hold_on(struct session *session, int status)
{
	sinks_free(session->sinks);
	if (session->verb->close)
		session->verb->close(session);
	fflush(NULL);
	front_release(session->front, status);
	pthread_join(session->thread, NULL);
	_exit(status);
}

/* As if it had been killed itself: what was found is not wanted any more. */
static NO_RETURN void end_with_front(struct session *session)
{
	if (session->holds_on)
		pthread_join(session->thread, NULL);
	_exit(EXIT_FAILURE);
}

/* One, and one more each time that calltrap was stopped and is continued. */
static int trace_in_rounds(struct session *session)
{
	int err;

	do
		err = trace_in_thread(session);
	while (!err && session->pause && !session->holds_on &&
	       pause_wait(session));
	return err;
}

static const struct verb_ops *const verbs[] = {
	[VERB_TRACE] = &trace_verb,
	[VERB_HEAP] = &heap_verb,
	[VERB_RECORD] = &heap_verb,
	[VERB_TOP] = &heap_verb,
};

static int end_of_tracing(struct session *session)
{
	int status = EXIT_NOTHING_TRACED;

	/* From here on there is nothing to be done but to write. */
	if (session->front)
		prctl(PR_SET_PDEATHSIG, SIGKILL * !session->holds_on);
	if (session->front && getppid() != session->front)
		end_with_front(session);
	if (session->begun) {
		finish(session);
		status = exit_status(session);
	}
	if (session->holds_on)
		hold_on(session, status);
	return status;
}

int session_run(const struct options *options, pid_t front,
		const sigset_t *blocked)
{
	struct session session = {
		.options = options,
		.front = front,
		.verb = verbs[options->verb],
	};
	int status = EXIT_NOTHING_TRACED;

	if (!open_session(&session, blocked) && !trace_in_rounds(&session)) {
		status = end_of_tracing(&session);
		tracer_fini(&session.tracer);
		prober_free(session.prober);
		session.policy.waiting = session.report_policy.waiting = NULL;
		agent_engine_free(session.agent);
	}
	pause_free(session.pause);
	sinks_free(session.sinks);
	if (session.verb->close)
		session.verb->close(&session);
	unwinder_free(session.unwinder);
	stacks_free(session.stacks);
	debuginfo_free(session.debuginfo);
	prototypes_free(session.prototypes);
	return status;
}
