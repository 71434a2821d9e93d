/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/watch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "growth/view.h"
#include "heap/act_observer.h"
#include "heap/call_acts.h"
#include "heap/family_pick.h"

struct watch {
	struct sink sink;
	struct watch_options options;
	struct family_pick *pick;
	struct call_acts acts;
	struct watched *processes;
};

/* ---- processes ---- */

static struct watched *find(const struct watch *watch, pid_t pid)
{
	struct watched *process;

	HASH_FIND_INT(watch->processes, &pid, process);
	return process;
}

static struct watched_cost cost_of(const struct watch *watch, pid_t pid)
{
	return watch->options.cost ?
		       watch->options.cost(watch->options.context, pid) :
		       (struct watched_cost){ 0 };
}

static void sample_growth(struct watched *process, uint64_t now,
			  bool now_and_then)
{
	if (!process->growth)
		return;
	if (process->samples == 1)
		growth_begin(process->growth, process->pid, &process->vitals,
			     now);
	else
		growth_look(process->growth, process->pid, &process->vitals,
			    now, now_and_then);
}

static void sample_cost(const struct watch *watch, struct watched *process)
{
	const struct watched_cost cost = cost_of(watch, process->pid);

	/* One that is gone keeps what was known of it last. */
	if (cost.stops > process->first_cost.stops) {
		process->cost.stops = cost.stops - process->first_cost.stops;
		process->cost.stopped_ns =
			cost.stopped_ns - process->first_cost.stopped_ns;
	}
}

static void tell(const struct watch *watch, const struct watched *process,
		 enum watch_news news, uint64_t since, uint64_t now)
{
	struct act_observer *observer = watch->options.observer;

	if (observer && observer->ops->news)
		observer->ops->news(observer, process, news, since, now);
}

static void miss(const struct watch *watch, const struct watched *process,
		 uint64_t since, uint64_t now)
{
	heap_missed(process->heap, since, now);
	tell(watch, process, WATCH_MISSED, since, now);
}

/* Double frees are rare, unless a uprobe keeps malloc's hits to itself. */
static void look_for_uprobes(const struct watch *watch, struct watched *process,
			     uint64_t now)
{
	uint64_t doubts = heap_double_frees(process->heap);

	if (doubts > process->double_frees &&
	    procfs_has_uprobes(process->pid)) {
		process->uprobes = true;
		miss(watch, process, process->looked, now);
		doubts = heap_double_frees(process->heap);
	}
	process->double_frees = doubts;
	process->looked = now;
}

/* It may have given up its own; a zombie has no root any more. */
static void renew_rights(struct watched *process)
{
	struct rights *rights = rights_of(process->pid);

	if (!rights)
		return;
	rights_put(process->rights);
	process->rights = rights;
}

#define MANY_MAPPINGS 4096

/* Many take long to count: that is done for reports only. One that has ended
   has none any more. */
static void sample_mappings(const struct watched *process,
			    struct vitals *vitals, bool now_and_then)
{
	uint64_t before = process->vitals.mappings;

	if (!now_and_then || before < MANY_MAPPINGS)
		vitals->mappings = vitals_count_mappings("", process->pid);
	if (!vitals->mappings)
		vitals->mappings = before;
}

static void sample(const struct watch *watch, struct watched *process,
		   uint64_t now, bool now_and_then)
{
	struct vitals vitals;

	sample_cost(watch, process);
	look_for_uprobes(watch, process, now);
	if (vitals_read("", process->pid, &vitals))
		return;
	sample_mappings(process, &vitals, now_and_then);
	renew_rights(process);
	if (!process->samples++)
		process->first_vitals = vitals;
	process->vitals = vitals;
	process->sampled = now;
	heap_name_threads(process->heap, false);
	/* As the heap's, it has no time for what isn't counted. */
	history_change(&process->resident,
		       heap_time(process->heap, now) - process->start,
		       (struct history_state){ .bytes =
						       vitals.resident_bytes });
	sample_growth(process, now, now_and_then);
	tell(watch, process, WATCH_SAMPLED, 0, now);
}

struct growth *watch_growth(const struct watch *watch, pid_t pid)
{
	const struct watched *process = find(watch, pid);

	return process ? process->growth : NULL;
}

void watch_sample(struct watch *watch, uint64_t now, bool now_and_then)
{
	struct watched *process, *next;

	HASH_ITER(hh, watch->processes, process, next)
		if (!process->end)
			sample(watch, process, now, now_and_then);
}

void watch_missed(struct watch *watch, pid_t pid, uint64_t traps,
		  uint64_t since, uint64_t now)
{
	struct watched *process = find(watch, pid);

	if (!process)
		return;
	/* Two traps may have gone at different times. */
	if (since < process->blind_until)
		since = process->blind_until;
	if (since < process->start)
		since = process->start;
	process->lost_traps += traps;
	process->blind_ns += now > since ? now - since : 0;
	process->blind_until = now;
	miss(watch, process, since, now);
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

static pid_t own_pid_of(pid_t pid)
{
	struct procfs_status status;

	if (procfs_status(pid, &status) || status.own_pid == pid)
		return 0;
	return status.own_pid;
}

static struct watched *add(struct watch *watch, pid_t pid, bool complete,
			   uint64_t time)
{
	struct watched *process = xcalloc(1, sizeof(*process));
	struct heap_options options = {
		.families = watch->options.families,
		.start = time,
		.complete = complete,
		.timeline = watch->options.timeline,
		.component = watch->options.component,
		.thread_name = procfs_comm,
		.context = watch->options.context,
		.stacks = watch->options.stacks,
		.missing = family_pick_missing(watch->pick),
	};

	process->pid = pid;
	process->own_pid = own_pid_of(pid);
	process->program = procfs_exe(pid);
	procfs_comm(pid, process->name);
	process->start = time;
	process->looked = time;
	process->complete = complete;
	if (complete && !procfs_descriptors(pid, &process->inherited,
					    &process->inherited_count)) {
		options.inherited = process->inherited;
		options.inherited_count = process->inherited_count;
	}
	process->heap = heap_new(&options);
	heap_switch(process->heap, time, !watch->acts.off);
	if (watch->acts.off)
		tell(watch, process, WATCH_SWITCHED, false, time);
	if (watch->options.growth)
		process->growth = growth_new(&(struct growth_options){
			.kinds = watch->options.growth,
			.drain = watch->options.drain,
			.context = watch->options.context });
	HASH_ADD_INT(watch->processes, pid, process);
	process->first_cost = cost_of(watch, pid);
	sample(watch, process, time, true);
	return process;
}

/* Children that are followed make themselves known by what they do. */
static struct watched *of_event(struct watch *watch, const struct event *event)
{
	struct watched *process = find(watch, event->pid);

	return process ? process : add(watch, event->pid, false, event->time);
}

static void forget(struct watch *watch, struct watched *process)
{
	HASH_DEL(watch->processes, process);
	heap_free(process->heap);
	free(process->inherited);
	growth_free(process->growth);
	history_fini(&process->resident);
	free(process->program);
	rights_put(process->rights);
	free(process);
}

static void end(struct watch *watch, const struct event *event,
		enum watched_state state, int status)
{
	struct watched *process = find(watch, event->pid);

	if (!process)
		return;
	/* Of one that runs another program by now /proc tells about that. */
	if (state == WATCHED_REPLACED)
		sample_cost(watch, process);
	else
		sample(watch, process, event->time, false);
	if (state == WATCHED_EXITED)
		vitals_read_kills("", &process->vitals);
	process->end = event->time;
	process->state = state;
	process->status = status;
	/* While processes are let go of there is no time for reports. */
	if (state == WATCHED_LEFT)
		return;
	watch->options.ended(watch->options.context, process);
	forget(watch, process);
}

static void on_exec(struct watch *watch, const struct event *event)
{
	end(watch, event, WATCHED_REPLACED, 0);
	add(watch, event->pid, true, event->time);
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
		sample(watch, process, event->time, false);
}

static void on_call_event(struct watch *watch, const struct event *event)
{
	const struct call *call = event->call;
	bool grows = is_of_growth(watch, call->function);
	struct watched *process;

	if (!call->function->subject && !grows)
		return;
	process = of_event(watch, event);
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
		if (watch->options.growth && !find(watch, event->child))
			add(watch, event->child, false, event->time);
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
		forget(watch, process);
	}
	return 0;
}

static void on_free(struct sink *sink)
{
	struct watch *watch = (struct watch *)sink;
	struct watched *process, *next;

	call_acts_fini(&watch->acts);
	HASH_ITER(hh, watch->processes, process, next)
		forget(watch, process);
	family_pick_free(watch->pick);
	free(watch);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
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
				      options->growth_by);
	watch->acts.stacks = options->stacks;
	watch->acts.observer = options->observer;
	return watch;
}

void watch_add(struct watch *watch, pid_t pid, bool complete)
{
	if (!find(watch, pid))
		add(watch, pid, complete, clock_now());
}

void watch_switch(struct watch *watch, bool on, uint64_t now)
{
	struct watched *process, *next;

	watch->acts.off = !on;
	HASH_ITER(hh, watch->processes, process, next) {
		heap_switch(process->heap, now, on);
		tell(watch, process, WATCH_SWITCHED, on, now);
	}
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

bool watch_has_found(const struct watch *watch)
{
	return family_pick_has_found(watch->pick);
}
