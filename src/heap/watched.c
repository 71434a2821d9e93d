/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "growth/view.h"
#include "heap/act_observer.h"
#include "heap/family_pick.h"
#include "heap/watch_private.h"

/* One process that is watched: from its first look to its last. */

struct watched *watched_find(const struct watch *watch, pid_t pid)
{
	struct watched *process = watch->latest;

	if (process && process->pid == pid)
		return process;
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

/* Trends are told from intervals: twice as many looks are enough. */
#define HELD_LOOKS (2 * HISTORY_POINTS)
#define HELD_PAUSE (NS_PER_SECOND / 64)

static void note_held(const struct watch *watch, struct watched *process,
		      const struct watched_cost *cost)
{
	const struct heap_held_up held_up = {
		.since = process->held_until,
		.until = cost->held_until,
		.ns = cost->held_ns - process->held_ns,
	};

	if (held_up.until <= held_up.since)
		return;
	process->held_ns = cost->held_ns;
	process->held_until = cost->held_until;
	process->held_next = held_up.until + HELD_PAUSE +
			     (held_up.until - process->start) / HELD_LOOKS;
	if (!held_up.since || !held_up.ns)
		return;
	process->held_up = held_up;
	heap_held_up(process->heap, &held_up);
	watched_tell(watch, process, WATCH_HELD_UP, held_up.since,
		     held_up.until);
}

void watched_look_held(const struct watch *watch, struct watched *process)
{
	const struct watched_cost cost = cost_of(watch, process->pid);

	note_held(watch, process, &cost);
}

void watched_sample_cost(const struct watch *watch, struct watched *process)
{
	const struct watched_cost cost = cost_of(watch, process->pid);

	note_held(watch, process, &cost);
	/* One that is gone keeps what was known of it last. */
	if (cost.addresses)
		process->cost.addresses = cost.addresses;
	if (cost.stops > process->first_cost.stops) {
		process->cost.stops = cost.stops - process->first_cost.stops;
		process->cost.stopped_ns =
			cost.stopped_ns - process->first_cost.stopped_ns;
	}
}

void watched_tell(const struct watch *watch, const struct watched *process,
		  enum watch_news news, uint64_t since, uint64_t now)
{
	struct act_observer *observer = watch->options.observer;

	if (observer && observer->ops->news)
		observer->ops->news(observer, process, news, since, now);
}

void watched_missed(const struct watch *watch, const struct watched *process,
		    uint64_t since, uint64_t now)
{
	heap_missed(process->heap, since, now);
	watched_tell(watch, process, WATCH_MISSED, since, now);
}

/* Double frees are rare, unless a uprobe keeps malloc's hits to itself. */
static void look_for_uprobes(const struct watch *watch, struct watched *process,
			     uint64_t now)
{
	uint64_t doubts = heap_double_frees(process->heap);

	if (doubts > process->double_frees &&
	    procfs_has_uprobes(process->pid)) {
		process->uprobes = true;
		watched_missed(watch, process, process->looked, now);
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

void watched_sample(const struct watch *watch, struct watched *process,
		    uint64_t now, bool now_and_then)
{
	struct vitals vitals;

	watched_sample_cost(watch, process);
	look_for_uprobes(watch, process, now);
	if (vitals_read("", process->pid, &vitals))
		return;
	sample_mappings(process, &vitals, now_and_then);
	vitals.own_bytes = process->vitals.own_bytes;
	if (watch->options.own_memory)
		watch->options.own_memory(watch->options.context, process->pid,
					  &vitals.own_bytes);
	renew_rights(process);
	if (!process->samples++)
		process->first_vitals = vitals;
	process->vitals = vitals;
	process->sampled = now;
	heap_name_threads(process->heap, false);
	/* As the heap's, it has no time for what isn't counted. */
	history_change(&process->resident,
		       heap_time(process->heap, now) - process->start,
		       (struct history_state){
			       .bytes = vitals_resident(&vitals) });
	sample_growth(process, now, now_and_then);
	watched_tell(watch, process, WATCH_SAMPLED, 0, now);
}

static pid_t own_pid_of(pid_t pid)
{
	struct procfs_status status;

	if (procfs_status(pid, &status) || status.own_pid == pid)
		return 0;
	return status.own_pid;
}

struct watched *watched_add(struct watch *watch, pid_t pid, bool complete,
			    uint64_t time)
{
	struct watched *process = xcalloc(1, sizeof(*process));
	struct heap_options options = {
		.families = watch->options.families,
		.start = time,
		.complete = complete,
		.timeline = watch->options.timeline,
		.sample = watch->options.sample,
		.adapts = watch->options.adapts,
		.rate = watch->rate,
		.seed = time ^ (uint64_t)pid << 40,
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
		watched_tell(watch, process, WATCH_SWITCHED, false, time);
	if (watch->options.growth)
		process->growth = growth_new(&(struct growth_options){
			.kinds = watch->options.growth,
			.drain = watch->options.drain,
			.context = watch->options.context });
	HASH_ADD_INT(watch->processes, pid, process);
	process->first_cost = cost_of(watch, pid);
	watched_sample(watch, process, time, true);
	return process;
}

void watched_forget(struct watch *watch, struct watched *process)
{
	HASH_DEL(watch->processes, process);
	if (watch->latest == process)
		watch->latest = NULL;
	heap_free(process->heap);
	free(process->inherited);
	growth_free(process->growth);
	history_fini(&process->resident);
	free(process->program);
	rights_put(process->rights);
	free(process);
}
