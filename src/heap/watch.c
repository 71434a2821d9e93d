/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "growth/view.h"
#include "heap/family_pick.h"
#include "heap/watch_private.h"

/* Makes of events what they mean to the heaps of processes. */

struct growth *watch_growth(const struct watch *watch, pid_t pid)
{
	const struct watched *process = watched_find(watch, pid);

	return process ? process->growth : NULL;
}

void watch_sample(struct watch *watch, uint64_t now, bool now_and_then)
{
	struct watched *process, *next;

	HASH_ITER(hh, watch->processes, process, next)
		if (!process->end)
			watched_sample(watch, process, now, now_and_then);
}

void watch_missed(struct watch *watch, pid_t pid, const struct missed *missed,
		  uint64_t now)
{
	struct watched *process = watched_find(watch, pid);
	uint64_t since = missed->since;

	if (!process)
		return;
	/* Two traps may have gone at different times. */
	if (since < process->blind_until)
		since = process->blind_until;
	if (since < process->start)
		since = process->start;
	process->lost_traps += missed->traps;
	process->roomless += missed->calls;
	process->blind_ns += now > since ? now - since : 0;
	process->blind_until = now;
	watched_missed(watch, process, since, now);
}

void watch_leave(struct watch *watch, uint64_t now)
{
	struct watched *process, *next;

	watch_sample(watch, now, false);
	HASH_ITER(hh, watch->processes, process, next) {
		if (process->end)
			continue;
		process->end = now;
		process->state = WATCHED_LEFT;
	}
}

/* Children that are followed make themselves known by what they do. */
static struct watched *of_call(struct watch *watch, pid_t pid, uint64_t time)
{
	struct watched *process = watched_find(watch, pid);

	if (!process)
		return watched_add(watch, pid, false, time);
	watch->latest = process;
	if (time >= process->held_next)
		watched_look_held(watch, process);
	return process;
}

static void end(struct watch *watch, const struct event *event,
		enum watched_state state, int status)
{
	struct watched *process = watched_find(watch, event->pid);

	if (!process)
		return;
	/* Of one that runs another program by now /proc tells about that. */
	if (state == WATCHED_REPLACED)
		watched_sample_cost(watch, process);
	else
		watched_sample(watch, process, event->time, false);
	if (state == WATCHED_EXITED)
		vitals_read_kills("", &process->vitals);
	process->end = event->time;
	process->state = state;
	process->status = status;
	/* While processes are let go of there is no time for reports. */
	if (state == WATCHED_LEFT)
		return;
	watch->options.ended(watch->options.context, process);
	watched_forget(watch, process);
}

static void on_exec(struct watch *watch, const struct event *event)
{
	end(watch, event, WATCHED_REPLACED, 0);
	watched_add(watch, event->pid, true, event->time);
}

static bool is_of_growth(const struct watch *watch,
			 const struct function *function)
{
	switch (watch->options.growth_by) {
	case GROWTH_NOT_SEEN:
		break;
	case GROWTH_BY_FUNCTIONS:
		return function->within_too;
	case GROWTH_BY_SYSTEM_CALLS:
		return function->place == FUNCTION_SYSTEM_CALL;
	}
	return false;
}

/* At the last moment, a process can still be looked at. */
static void on_growth_event(struct watch *watch, struct watched *process,
			    const struct event *event)
{
	if (!growth_is_end(event->call->function->name))
		growth_call(process->growth, event);
	else if (event->kind == EVENT_CALL)
		watched_sample(watch, process, event->time, false);
}

static int on_wholes(struct sink *sink, const struct whole_call *calls,
		     size_t count)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process = NULL;
	const struct whole_call *call;

	for (call = calls; call != calls + count; call++) {
		if (!call->function->subject)
			continue;
		if (!process || process->pid != call->pid ||
		    call->time >= process->held_next)
			process = of_call(watch, call->pid, call->time);
		call_acts_whole(&watch->acts, process, call);
	}
	return 0;
}

static void on_expect(struct sink *sink, const struct function *function,
		      pid_t pid, const uint64_t arguments[WHOLE_ARGUMENTS])
{
	struct watch *watch = (struct watch *)sink;
	const struct watched *process = watch->latest;

	if (function->subject && process && process->pid == pid)
		call_acts_expect(process, function->subject, arguments);
}

static void on_call_event(struct watch *watch, const struct event *event)
{
	const struct call *call = event->call;
	bool grows = is_of_growth(watch, call->function);
	struct watched *process;

	if (!call->function->subject && !grows)
		return;
	process = of_call(watch, event->pid, event->time);
	if (grows)
		on_growth_event(watch, process, event);
	if (!call->function->subject || call->within)
		return;
	if (event->kind == EVENT_CALL)
		call_acts_begin(&watch->acts, process, event);
	else if (event->kind == EVENT_RETURN)
		call_acts_end(&watch->acts, process, event);
	else
		call_acts_abandon(&watch->acts, process, event);
}

static int on_event(struct sink *sink, const struct event *event)
{
	struct watch *watch = (struct watch *)sink;

	switch (event->kind) {
	case EVENT_CALL:
	case EVENT_RETURN:
	case EVENT_ABANDON:
		on_call_event(watch, event);
		break;
	case EVENT_EXEC:
		on_exec(watch, event);
		break;
	case EVENT_EXIT:
		end(watch, event, WATCHED_EXITED, event->status);
		break;
	case EVENT_LEAVE:
		end(watch, event, WATCHED_LEFT, 0);
		break;
	case EVENT_FORK:
		/* Else they make themselves known by their first call. */
		if (watch->options.growth && !watched_find(watch, event->child))
			watched_add(watch, event->child, false, event->time);
		break;
	case EVENT_CHILD_RETURN:
	case EVENT_SIGNAL:
	case EVENT_THREAD:
	case EVENT_THREAD_END:
		break;
	}
	return 0;
}

static int on_finish(struct sink *sink)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process, *next;

	HASH_ITER(hh, watch->processes, process, next) {
		if (!process->end) {
			process->end = clock_now();
			process->state = WATCHED_LEFT;
		}
		watch->options.ended(watch->options.context, process);
		watched_forget(watch, process);
	}
	return 0;
}

static void on_free(struct sink *sink)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process, *next;

	call_acts_fini(&watch->acts);
	HASH_ITER(hh, watch->processes, process, next)
		watched_forget(watch, process);
	family_pick_free(watch->pick);
	free(watch);
}

/* Of each act its observer is told when it was. */
static bool needs_times(const struct sink *sink)
{
	const struct watch *watch = (const struct watch *)sink;

	return watch->options.observer || watch->options.timed;
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.wholes = on_wholes,
	.needs_times = needs_times,
	.expect = on_expect,
	.finish = on_finish,
	.free = on_free,
};

struct sink *watch_sink(struct watch *watch)
{
	return &watch->sink;
}

const struct prober_pick *watch_pick(const struct watch *watch)
{
	return family_pick_ops(watch->pick);
}

struct watch *watch_new(const struct watch_options *options)
{
	struct watch *watch = xcalloc(1, sizeof(*watch));

	watch->sink.ops = &sink_ops;
	watch->options = *options;
	watch->pick = family_pick_new(options->families, options->timed,
				      options->observer, options->waits,
				      options->growth_by);
	watch->acts.stacks = options->stacks;
	watch->acts.observer = options->observer;
	watch->acts.kept = options->kept;
	watch->acts.context = options->context;
	return watch;
}

void watch_add(struct watch *watch, pid_t pid, bool complete)
{
	if (!watched_find(watch, pid))
		watched_add(watch, pid, complete, clock_now());
}

void watch_switch(struct watch *watch, bool on, uint64_t now)
{
	struct watched *process, *next;

	watch->acts.off = !on;
	HASH_ITER(hh, watch->processes, process, next) {
		heap_switch(process->heap, now, on);
		watched_tell(watch, process, WATCH_SWITCHED, on, now);
	}
}

void watch_set_rate(struct watch *watch, unsigned rate, uint64_t now)
{
	struct watched *process, *next;

	watch->rate = rate;
	HASH_ITER(hh, watch->processes, process, next)
		heap_set_rate(process->heap, rate, now);
}

bool watch_is_on(const struct watch *watch)
{
	return !watch->acts.off;
}

const struct watched *watch_next(const struct watch *watch,
				 const struct watched *after)
{
	return after ? after->hh.next : watch->processes;
}

void watch_visit_held(const struct watch *watch, pid_t pid,
		      void (*visit)(void *visitor, uint64_t handle),
		      void *visitor)
{
	const struct watched *process = watched_find(watch, pid);
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (process && heap_next_block(process->heap, &walk, &block))
		if (block.site->function->family->has_size)
			visit(visitor, block.handle);
}

bool watch_has_found(const struct watch *watch)
{
	return family_pick_has_found(watch->pick);
}
