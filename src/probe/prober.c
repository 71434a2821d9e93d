/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/prober.h"

#include <stdlib.h>
#include <time.h>

#include "agent/remains.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/signal_bit.h"
#include "base/xalloc.h"
#include "probe/picked.h"
#include "probe/private.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/loop.h"

static struct prober *prober_of(struct tracer_client *client)
{
	return (struct prober *)client;
}

static void note_error(struct prober *prober, int err)
{
	if (err && !prober->error) {
		prober->error = err;
		*prober->config.wake = 1;
	}
}

void prober_tell(struct prober *prober, const struct event *event)
{
	note_error(prober, sinks_event(prober->config.sinks, event));
}

void prober_tell_wholes(struct prober *prober, const struct whole_run *run)
{
	note_error(prober,
		   sinks_wholes(prober->config.sinks, run->calls, run->count));
}

void prober_count(struct prober *prober, const struct call_count *count)
{
	prober->counts.calls += count->calls;
	note_error(prober, sinks_count(prober->config.sinks, count));
}

void prober_emit(struct prober *prober, const struct event *event)
{
	engines_catch_up(prober, event->time, event->tid);
	prober_tell(prober, event);
}

stack_id prober_callers(const struct moment *moment, bool at_entry)
{
	const struct prober *prober = moment->space->prober;
	const unsigned depth = prober->config.stack_depth;
	stack_id stack;

	if (!prober->config.unwinder)
		return STACK_NONE;
	if (moment->callers)
		return *moment->callers;
	stack = unwind(prober->config.unwinder, moment->space->space,
		       moment->memory, moment->tid, moment->regs,
		       depth + at_entry, at_entry);
	if (at_entry)
		stack = stacks_caller(prober->config.stacks, stack);
	return prober->config.script_stacks ? script_stack(moment, stack) :
					      stack;
}

struct event_cost prober_cost_since(const struct moment *moment,
				    const struct call *call)
{
	const struct stop_price *price = moment->price;
	const struct stop_sums *now = &moment->stops, *then = &call->stops;
	struct event_cost cost;
	uint64_t stops, mean;

	if (!price)
		return (struct event_cost){ 0 };
	/* Nobody has counted what that has had meanwhile. */
	if (call->tid != moment->tid && moment->past)
		return (struct event_cost){ 0 };
	if (call->tid != moment->tid)
		return (struct event_cost){
			.switched_ns = price->least,
			.mean_ns = price->mean + price->waits,
			.resolution_ns = price->resolution,
		};
	stops = now->count - then->count;
	mean = now->mean_ns - then->mean_ns;
	cost = (struct event_cost){
		.stopped_ns = now->stopped_ns - then->stopped_ns,
		.switched_ns = price_guess_sum(now->least_ns - then->least_ns,
					       mean, stops),
		.mean_ns = mean + now->waits_ns - then->waits_ns,
		.resolution_ns = price_resolution(price, stops),
		.waits_ns = now->waits_ns - then->waits_ns,
	};
	clocked_end(moment, call, &cost);
	return cost;
}

static void flush_unwinder(const struct prober *prober, struct space *space)
{
	if (prober->config.unwinder)
		unwinder_flush(prober->config.unwinder, space);
}

static void on_space_begin(struct tracer_client *client, struct space *space)
{
	struct probe_space *own = xcalloc(1, sizeof(*own));

	own->prober = prober_of(client);
	own->space = space;
	space->client = own;
}

static void on_space_end(struct tracer_client *client, struct space *space)
{
	struct probe_space *own = probe_space_of(space);

	(void)client;
	pairing_abandon_stack(own, &own->moving, CALL_PROCESS_ENDED,
			      clock_now());
	probes_forget_range(own, 0, UINT64_MAX);
	engines_forget_range(own, 0, UINT64_MAX);
	ifuncs_forget_range(own, 0, UINT64_MAX);
	nonlocals_forget_range(own, 0, UINT64_MAX);
	untraced_forget_range(own, 0, UINT64_MAX);
	engines_end(own);
	if (own->prober->config.unwinder)
		unwinder_forget(own->prober->config.unwinder, space);
	scripts_forget(own);
	clocked_forget(own);
	free(own);
}

static void on_module_mapped(struct tracer_client *client, struct space *space,
			     struct module *module)
{
	struct probe_space *own = probe_space_of(space);

	flush_unwinder(prober_of(client), space);
	/* Before the first trap: what it stands on is read from the code. */
	if (!own->code_repaired)
		(void)remains_repair_code(space);
	own->code_repaired = true;
	if (module->is_main)
		own->is_go = image_is_go(module->image);
	own->prober->go_seen |= own->is_go;
	/* Before all others: owners that come later are told first. */
	untraced_plant(own, module);
	entries_plant(own, module);
	nonlocals_plant(own, module);
}

static void on_module_unmapped(struct tracer_client *client,
			       struct space *space, struct module *module)
{
	struct probe_space *own = probe_space_of(space);

	flush_unwinder(prober_of(client), space);
	probes_forget_range(own, module->low, module->high);
	probes_forget_caller(own, module);
	engines_forget_range(own, module->low, module->high);
	ifuncs_forget_range(own, module->low, module->high);
	ifuncs_forget_caller(own, module);
	nonlocals_forget_range(own, module->low, module->high);
	untraced_forget_range(own, module->low, module->high);
	asked_forget(own);
	scripts_forget(own);
}

/*
 * Call sites come when the whole list is known, so that each import can be
 * bound to the module that defines it.
 */
static void on_modules_consistent(struct tracer_client *client,
				  struct space *space)
{
	struct prober *prober = prober_of(client);
	struct probe_space *own = probe_space_of(space);
	struct module *module;

	for (module = space->modules; module; module = module->next)
		call_sites_plant(own, module);
	if (!own->repaired)
		(void)remains_repair(space);
	own->repaired = true;
	engines_prepare(own);
	pairing_watch_inherited(own);
	ifuncs_read_slots(own);
	asked_forget(own);
	scripts_forget(own);
	wanted_modules(prober->wanted, space);
	elsewhere_look(prober, space);
}

static void on_space_relocated(struct tracer_client *client,
			       struct space *space)
{
	(void)client;
	ifuncs_read_slots(probe_space_of(space));
}

static void on_task_begin(struct tracer_client *client, struct task *task)
{
	struct event event = {
		.kind = EVENT_THREAD,
		.pid = task->tracee->pid,
		.tid = task->tid,
		.time = clock_now(),
	};

	task->client = xcalloc(1, sizeof(struct task_calls));
	if (task->next && !task->tracee->muted)
		prober_emit(prober_of(client), &event);
}

/* Whether the process ends: then the kernel kills every other thread. */
static bool all_are_ending(const struct task *first)
{
	const struct task *task;
	struct procfs_status status;
	bool lives = false;

	for_each_task_of(first->tracee, task) {
		if (task == first || procfs_status(task->tid, &status) ||
		    status.state == 'Z' || status.state == 'X')
			continue;
		lives = true;
		if (status.signals_pending & SIGNAL_BIT(SIGKILL))
			return true;
	}
	return !lives;
}

/* Only pthread_exit() unwinds; a thread can't be killed alone. */
static enum call_end end_of_calls(const struct task *task)
{
	const struct task_calls *calls = task_calls_of(task);

	if (!calls->stack.top || calls->unwinding)
		return CALL_THREAD_EXITED;
	return task->end_status || all_are_ending(task) ? CALL_PROCESS_ENDED :
							  CALL_THREAD_EXITED;
}

/* The end of the first one is that of the process. */
static void tell_thread_end(struct prober *prober, const struct task *task)
{
	struct event event = {
		.kind = EVENT_THREAD_END,
		.pid = task->tracee->pid,
		.tid = task->tid,
		.time = task->stop_time,
		.status = task->end_status,
	};

	if (task->tid != task->tracee->pid && !task->tracee->muted)
		prober_emit(prober, &event);
}

static void on_task_end(struct tracer_client *client, struct task *task)
{
	struct task_calls *calls = task_calls_of(task);

	system_call_abandon(prober_of(client), task, CALL_THREAD_EXITED,
			    task->stop_time);
	pairing_abandon_stack(probe_space_of(task->tracee->space),
			      &calls->stack, end_of_calls(task),
			      task->stop_time);
	free(calls);
	task->client = NULL;
	tell_thread_end(prober_of(client), task);
}

static void on_signal(struct tracer_client *client, struct task *task,
		      int signal)
{
	struct regs *regs = task_regs(task);
	struct event event = {
		.kind = EVENT_SIGNAL,
		.pid = task->tracee->pid,
		.tid = task->tid,
		.time = task->stop_time,
		.signal = signal,
	};

	system_call_settle(prober_of(client), task);
	if (regs)
		event.ip = task->tracee->space->arch->ip(regs);
	if (!task->tracee->muted)
		prober_emit(prober_of(client), &event);
}

/* What engines have put into its parent is taken out by them. */
static void copy_begin(struct probe_space *parent, struct probe_space *child)
{
	engines_forked(parent, child);
	child->repaired = parent->repaired;
	child->code_repaired = parent->code_repaired;
}

static void on_fork(struct tracer_client *client, struct task *parent,
		    struct tracee *child)
{
	struct event event = {
		.kind = EVENT_FORK,
		.pid = parent->tracee->pid,
		.tid = parent->tid,
		.time = parent->stop_time,
		.child = child->pid,
	};

	prober_emit(prober_of(client), &event);
	if (child->space != parent->tracee->space)
		copy_begin(probe_space_of(parent->tracee->space),
			   probe_space_of(child->space));
	fork_begin(parent, child);
}

static void on_exec(struct tracer_client *client, struct task *task)
{
	struct tracee *tracee = task->tracee;
	char *path CLEANUP(xfree_cleanup) = procfs_exe(tracee->pid);
	struct event event = {
		.kind = EVENT_EXEC,
		.pid = tracee->pid,
		.tid = task->tid,
		.time = task->stop_time,
		.path = path ? path : "",
	};

	system_call_executed(prober_of(client), task);
	pairing_abandon_stack(probe_space_of(tracee->space),
			      &task_calls_of(task)->stack, CALL_NEVER_RETURNS,
			      task->stop_time);
	task_calls_of(task)->unwinding = CALL_RETURNED;
	/* The exec of calltrap's own child is no event of the program. */
	if (!tracee->muted && tracee->space->modules)
		prober_emit(prober_of(client), &event);
}

static void on_succeed(struct tracer_client *client, struct task *former,
		       struct task *leader)
{
	system_call_abandon(prober_of(client), leader, CALL_THREAD_EXITED,
			    leader->stop_time);
	system_call_move(former, leader);
}

static void on_syscall_entered(struct tracer_client *client, struct task *task,
			       const struct syscall_stop *stop)
{
	system_call_entered(prober_of(client), task, stop);
}

static void on_syscall_returned(struct tracer_client *client, struct task *task,
				const struct syscall_stop *stop, bool again)
{
	system_call_returned(prober_of(client), task, stop, again);
}

static void on_tracee_end(struct tracer_client *client, struct tracee *tracee,
			  int wait_status)
{
	struct event event = {
		.kind = EVENT_EXIT,
		.pid = tracee->pid,
		.tid = tracee->pid,
		.time = clock_now(),
		.status = wait_status,
	};

	if (!tracee->muted)
		prober_emit(prober_of(client), &event);
}

static void on_leave(struct tracer_client *client, struct tracee *tracee)
{
	struct event event = {
		.kind = EVENT_LEAVE,
		.pid = tracee->pid,
		.tid = tracee->pid,
		.time = clock_now(),
	};

	if (!prober_of(client)->paused)
		prober_emit(prober_of(client), &event);
}

static const struct tracer_client_ops client_ops = {
	.space_begin = on_space_begin,
	.space_end = on_space_end,
	.module_mapped = on_module_mapped,
	.module_unmapped = on_module_unmapped,
	.modules_consistent = on_modules_consistent,
	.space_relocated = on_space_relocated,
	.task_begin = on_task_begin,
	.task_end = on_task_end,
	.signal = on_signal,
	.fork = on_fork,
	.succeed = on_succeed,
	.exec = on_exec,
	.syscall_entered = on_syscall_entered,
	.syscall_returned = on_syscall_returned,
	.tracee_end = on_tracee_end,
	.leave = on_leave,
};

struct prober *prober_new(const struct prober_config *config)
{
	struct prober *prober = xcalloc(1, sizeof(*prober));

	prober->client.ops = &client_ops;
	prober->config = *config;
	engines_init(prober);
	prober->functions = functions_new();
	prober->wanted = wanted_new(config);
	if (config->pick)
		prober->picked = picked_new(config->pick);
	return prober;
}

void prober_free(struct prober *prober)
{
	functions_free(prober->functions);
	system_functions_free(prober->system_functions);
	wanted_free(prober->wanted);
	picked_free(prober->picked);
	free(prober->elsewhere);
	free(prober->interpreter);
	free(prober->spare);
	free(prober);
}

struct tracer_client *prober_client(struct prober *prober)
{
	return &prober->client;
}

int prober_error(const struct prober *prober)
{
	return prober->error;
}

bool prober_has_matched(const struct prober *prober)
{
	const struct prober_config *config = &prober->config;
	const bool wants = config->default_calls || config->pick ||
			   !filter_is_empty(config->calls) ||
			   !filter_is_empty(config->libraries) ||
			   !filter_is_empty(config->entries);

	return !wants || config->system_calls || prober->counts.probes != 0;
}

bool prober_has_go(const struct prober *prober)
{
	return prober->go_seen;
}

void prober_report_unmatched(const struct prober *prober)
{
	if (prober->config.default_calls && !prober_has_matched(prober))
		diag(DIAG_WARNING, DIAG_PROBE,
		     "no calls of libraries were found, and a program that is "
		     "linked statically has none: -x names its own functions, "
		     "-S shows its system calls");
	wanted_report_never(prober->wanted);
	elsewhere_report(prober);
	script_report(prober);
}

void prober_pause(struct prober *prober, bool paused)
{
	prober->paused = paused;
}

struct prober_counts prober_counts(const struct prober *prober)
{
	return prober->counts;
}

static void tell_spaces(struct tracer *tracer,
			void (*tell)(struct probe_space *space))
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, tracer->tracees, tracee, next)
		if (!tracee->borrows)
			tell(probe_space_of(tracee->space));
}

static void wait_for_a_moment(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	nanosleep(&moment, NULL);
}

/* Milliseconds that a handler may hold up who is on the way for an engine. */
#define WAITS_FOR_WAYS 20

static void await_ways(const struct prober *prober, struct tracer *tracer)
{
	unsigned i;

	for (i = 0;
	     i < WAITS_FOR_WAYS && engines_are_on_the_way(prober->engines);
	     i++) {
		wait_for_a_moment();
		loop_serve(tracer);
	}
}

static bool anybody_runs(const struct tracer *tracer)
{
	struct task *task, *next;

	HASH_ITER(hh, tracer->tasks, task, next) {
		const char state = procfs_state(task->tid);

		if (state == 'R' || state == 't') /* once it is served */
			return true;
	}
	return false;
}

/*
 * Milliseconds that a call may take to end: who sleeps in it may do so for hours,
 * and who runs may have lost the processor to others.
 */
#define WAITS_FOR_SLEEPERS 10
#define WAITS_FOR_RUNNERS  300

/* (Each may come to a trap on its way, have been asked to stop, or wait for a child
   that has ended, and of which its parent hears when we have.) */
static void await_calls(const struct prober *prober, struct tracer *tracer)
{
	unsigned i;

	for (i = 0;
	     i < WAITS_FOR_RUNNERS && engines_are_awaited(prober->engines) &&
	     (i < WAITS_FOR_SLEEPERS || anybody_runs(tracer));
	     i++) {
		wait_for_a_moment();
		(void)loop_fetch_all(tracer);
		loop_handle_queued(tracer);
	}
}

void prober_abandon_all(struct prober *prober, struct tracer *tracer)
{
	uint64_t now;
	struct task *task, *next;

	await_ways(prober, tracer);
	tell_spaces(tracer, engines_close);
	await_calls(prober, tracer);
	now = clock_now();
	tell_spaces(tracer, engines_leave);

	HASH_ITER(hh, tracer->tasks, task, next) {
		struct probe_space *space;

		if (!task->tracee)
			continue;
		space = probe_space_of(task->tracee->space);
		system_call_abandon(prober, task, CALL_DETACHED, now);
		pairing_abandon_stack(space, &task_calls_of(task)->stack,
				      CALL_DETACHED, now);
		pairing_abandon_stack(space, &space->moving, CALL_DETACHED,
				      now);
	}
}
