/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/session.h"

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
#include "base/signal_bit.h"
#include "base/xalloc.h"
#include "cli/attach_all.h"
#include "cli/complain.h"
#include "cli/crash.h"
#include "cli/front.h"
#include "cli/outputs.h"
#include "cli/pause.h"
#include "cli/prototype_path.h"
#include "cli/session_agent.h"
#include "cli/session_report.h"
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

static int watch_wholes(struct sink *sink UNUSED,
			const struct whole_call *calls UNUSED,
			size_t count UNUSED)
{
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
	.wholes = watch_wholes,
	.count = watch_count,
	.finish = watch_finish,
	.free = watch_free,
};

/* ---- setting up ---- */

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
	session_open_agent(session, &config);
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
		!(session->inheritance.ignored & SIGNAL_BIT(SIGINT));
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
static const char *way_out(const struct options *options)
{
	if (options->verb == VERB_TOP)
		return "; q leaves";
	if (options->verb != VERB_TRACE)
		return "; end it with SIGINT, or soon with --for";
	return options->count && options->engine == ENGINE_AUTO ?
		       "; name functions with -L -x, or say --engine=agent" :
		       "; name functions with -L -x";
}

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
			 way_out(options));
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
	session_report(session);
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
