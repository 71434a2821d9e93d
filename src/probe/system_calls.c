/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/private.h"
#include "tracee/syscall.h"

/*
 * System calls as functions. Entry and return are told by the kernel; a task
 * is in one at a time.
 */

struct system_key {
	const struct arch_ops *arch;
	uint64_t number;
};

struct system_functions {
	struct system_key key;
	struct function function;
	bool wanted;
	UT_hash_handle hh;
};

/*
 * Several times as many as there are. A program may make up numbers; the rest
 * of them are shown as one.
 */
#define NUMBERS_MAX  4096
#define OTHER_NUMBER (1ull << 63)

static bool never_returns(const char *name)
{
	return !strcmp(name, "exit") || !strcmp(name, "exit_group");
}

/* What can stand behind a name in a filter. */
static const struct filter_library kernel = { .is_system = true };

static bool is_wanted(const struct prober *prober, const char *name)
{
	const struct prober_pick *pick = prober->config.pick;

	if (pick && pick->wants_call)
		return pick->wants_call(pick->context, name);
	return !prober->config.system_entries ||
	       filter_matches(prober->config.entries, name, &kernel);
}

static char *make_name(uint64_t number)
{
	return number == OTHER_NUMBER ? xstrdup("syscall_other") :
					xasprintf("syscall_%" PRIu64, number);
}

static struct system_functions *new_function(struct prober *prober,
					     const struct system_key *key)
{
	struct system_functions *entry = xcalloc(1, sizeof(*entry));
	struct function *function = &entry->function;
	const char *name = key->arch->syscall_name(key->number);

	entry->key = *key;
	function->name = name ? xstrdup(name) : make_name(key->number);
	function->place = FUNCTION_SYSTEM_CALL;
	function->returns = never_returns(function->name) ? RETURNS_NEVER :
							    RETURNS_ONCE;
	function->prototype = prototypes_find_syscall(prober->config.prototypes,
						      key->arch->syscalls,
						      function->name);
	entry->wanted = is_wanted(prober, function->name);
	return entry;
}

static struct system_functions *find_known(struct prober *prober,
					   const struct system_key *key)
{
	struct system_functions *entry;

	HASH_FIND(hh, prober->system_functions, key, sizeof(*key), entry);
	return entry;
}

static const struct system_functions *find_function(struct prober *prober,
						    const struct arch_ops *arch,
						    uint64_t number)
{
	struct system_key key = { arch, number };
	struct system_functions *entry = find_known(prober, &key);

	if (!entry && HASH_COUNT(prober->system_functions) >= NUMBERS_MAX &&
	    !arch->syscall_name(number)) {
		key.number = OTHER_NUMBER;
		entry = find_known(prober, &key);
	}
	if (!entry) {
		entry = new_function(prober, &key);
		HASH_ADD(hh, prober->system_functions, key, sizeof(key), entry);
		wanted_found_entry(prober->wanted, entry->function.name,
				   &kernel);
	}
	return entry;
}

void system_functions_free(struct system_functions *functions)
{
	struct system_functions *entry, *next;

	HASH_ITER(hh, functions, entry, next) {
		HASH_DEL(functions, entry);
		free(entry->function.name);
		free(entry);
	}
}

static struct system_call *system_call_of(struct task *task)
{
	return &task_calls_of(task)->system_call;
}

static struct event event_of(const struct system_call *running,
			     enum event_kind kind, uint64_t time)
{
	return (struct event){
		.kind = kind,
		.pid = running->call.pid,
		.tid = running->call.tid,
		.time = time,
		.call = &running->call,
	};
}

/* Tells of the end. */
static void finish(struct prober *prober, struct system_call *running,
		   const struct event *event)
{
	running->running = false;
	prober_emit(prober, event);
	script_frames_free(running->call.script);
	running->call.script = NULL;
}

void system_call_abandon(struct prober *prober, struct task *task,
			 enum call_end end, uint64_t time)
{
	struct system_call *running = system_call_of(task);
	struct event event = event_of(running, EVENT_ABANDON, time);

	if (!running->running)
		return;
	event.end = end;
	finish(prober, running, &event);
}

static void end(struct prober *prober, struct system_call *running,
		uint64_t time, const struct regs *regs, int error)
{
	struct event event = event_of(running, EVENT_RETURN, time);

	event.regs = regs;
	event.cost = running->cost;
	event.end = CALL_RETURNED;
	event.failed = error && !syscall_restarts(error);
	event.error = error;
	finish(prober, running, &event);
}

/* restart_syscall goes on with any that has a timeout (restart_syscall(2)). */
static bool is_made_again(struct task *task, const struct function *function)
{
	const struct system_call *running = system_call_of(task);

	return running->running && running->again &&
	       (running->call.function == function ||
		!strcmp(function->name, "restart_syscall"));
}

static void begin(struct prober *prober, struct task *task,
		  const struct syscall_stop *stop,
		  const struct function *function)
{
	const struct moment moment = moment_of_stop(task);
	struct system_call *running = &moment.calls->system_call;
	struct event event;

	running->running = true;
	running->again = false;
	running->call = (struct call){
		.function = function,
		.id = ++prober->last_call_id,
		.pid = moment.pid,
		.tid = moment.tid,
		.depth = moment.calls->stack.depth,
		.arch = stop->arch,
		.memory = moment.memory,
		.return_address = stop->ip,
		.entry = *moment.regs,
		.stack = prober_callers(&moment, false),
		.script = script_where(&moment),
		.time = moment.time,
		.stops = moment.stops,
	};
	running->cost = (struct event_cost){ 0 };
	prober->counts.calls++;
	event = event_of(running, EVENT_CALL, moment.time);
	prober_emit(prober, &event);
	if (function->returns == RETURNS_NEVER)
		system_call_abandon(prober, task, CALL_NEVER_RETURNS,
				    moment.time);
}

void system_call_entered(struct prober *prober, struct task *task,
			 const struct syscall_stop *stop)
{
	const struct system_functions *found =
		find_function(prober, stop->arch, stop->number);

	if (task->tracee->muted || !task_regs(task) ||
	    engines_have_code(probe_space_of(task->tracee->space), stop->ip))
		return;
	if (is_made_again(task, &found->function)) {
		system_call_of(task)->again = false;
		return;
	}
	system_call_settle(prober, task);
	system_call_abandon(prober, task, CALL_UNSEEN, task->stop_time);
	if (found->wanted)
		begin(prober, task, stop, &found->function);
}

void system_call_returned(struct prober *prober, struct task *task,
			  const struct syscall_stop *stop, bool again)
{
	struct system_call *running = system_call_of(task);
	const struct regs *regs = task_regs(task);
	int error = stop->failed ? (int)-stop->result : 0;
	struct moment moment;

	/* It began before we came, in another program, or in the parent. */
	if (!running->running || !regs)
		return;
	moment = moment_of_stop(task);
	running->cost = prober_cost_since(&moment, &running->call);
	if (!again) {
		end(prober, running, task->stop_time, regs, error);
		return;
	}
	running->again = true;
	running->regs = *regs;
	running->time = task->stop_time;
	running->error = error;
}

void system_call_settle(struct prober *prober, struct task *task)
{
	struct system_call *running = system_call_of(task);

	if (running->running && running->again)
		end(prober, running, running->time, &running->regs,
		    running->error);
}

void system_call_move(struct task *from, struct task *to)
{
	struct system_call *running = system_call_of(to);

	*running = *system_call_of(from);
	running->call.tid = to->tid;
	system_call_of(from)->running = false;
	system_call_of(from)->call.script = NULL;
}

void system_call_executed(struct prober *prober, struct task *task)
{
	struct system_call *running = system_call_of(task);
	struct regs regs = running->call.entry;

	if (!running->running)
		return;
	running->call.arch->syscall_set_result(&regs, 0);
	end(prober, running, task->stop_time, &regs, 0);
}
