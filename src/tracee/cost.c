/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/cost.h"

#include "base/clock.h"
#include "tracee/tracer.h"

/* Keeps the longest ones, in order; false when one had no room. */
static bool insert(struct thread_cost *threads, unsigned *count, unsigned room,
		   const struct thread_cost *cost)
{
	bool fits = *count < room;
	unsigned i = fits ? (*count)++ : room - 1;

	if (!fits && threads[i].still_ns >= cost->still_ns)
		return false;
	for (; i > 0 && threads[i - 1].still_ns < cost->still_ns; i--)
		threads[i] = threads[i - 1];
	threads[i] = *cost;
	return fits;
}

/* While it ran it didn't stand still; half of the price of a stop is running. */
static uint64_t time_to_stand(const struct tracer *tracer,
			      const struct task_cost *cost, uint64_t seen)
{
	uint64_t stops = cost->stops * (tracer->price.now.typical / 2);
	uint64_t ran = cost->ran_ns > stops ? cost->ran_ns - stops : 0;

	return seen > ran ? seen - ran : 0;
}

static struct thread_cost cost_of(const struct tracer *tracer,
				  const struct task *task, uint64_t now)
{
	uint64_t most;
	struct thread_cost cost = {
		.pid = task->tracee->pid,
		.tid = task->tid,
		.stops = task->cost.stops,
		.still_ns = task->cost.still_ns,
		.seen_ns = now > task->cost.since ? now - task->cost.since : 0,
	};

	most = time_to_stand(tracer, &task->cost, cost.seen_ns);
	if (cost.still_ns > most)
		cost.still_ns = most;
	return cost;
}

void cost_begin(struct task *task)
{
	task->cost = (struct task_cost){ .since = clock_now() };
	task->cost.looked = task->cost.since;
	task->cost.stopped_ns = task->stops.stopped_ns;
	(void)procfs_schedule(task->tid, &task->cost.schedule);
	task->standstill.schedule = task->cost.schedule;
}

/*
 * How long we have waited for a processor, for each stop, since the last. We
 * work between stops, too, and lose it there (the agent's records are many):
 * a stop comes upon no more than one wait.
 */
static uint64_t own_waits(struct tracer *tracer)
{
	struct procfs_schedule now;
	uint64_t stops = tracer->counts.stops - tracer->scheduled, waits, turns;

	if (!stops || !procfs_schedule(0, &now))
		return 0;
	turns = now.turns - tracer->schedule.turns;
	waits = (now.waited_ns - tracer->schedule.waited_ns) /
		(turns > stops ? turns : stops);
	tracer->schedule = now;
	tracer->scheduled = tracer->counts.stops;
	return waits;
}

/* Nobody keeps a processor for longer when others want it, or not by much. */
#define SLICE (NS_PER_SECOND / 500)

/*
 * … a task has: after a stop, or whenever it had lost the processor. One that
 * works on for long between stops would have to wait without them as well.
 */
static uint64_t waits_of(struct task *task, uint64_t stops)
{
	struct procfs_schedule now, before = task->cost.schedule;
	uint64_t turns, ran, waited;

	if (!procfs_schedule(task->tid, &now) || now.turns == before.turns)
		return 0;
	task->cost.schedule = now;
	task->cost.ran_ns += now.ran_ns - before.ran_ns;
	turns = now.turns - before.turns > stops ? now.turns - before.turns :
						   stops;
	ran = (now.ran_ns - before.ran_ns) / turns;
	waited = (now.waited_ns - before.waited_ns) / turns;
	return ran < SLICE ? waited * (SLICE - ran) / SLICE : 0;
}

/*
 * What is left of its time since the last look for waits of each stop. A wait
 * of ours may have come in a stop, or while the task ran or waited as well.
 */
static uint64_t room_for_waits(const struct tracer *tracer, struct task *task,
			       uint64_t stops, uint64_t ran_before)
{
	const struct stop_price *price = &tracer->price.now;
	struct task_cost *cost = &task->cost;
	struct task_cost part = { .stops = stops,
				  .ran_ns = cost->ran_ns - ran_before };
	uint64_t now = clock_now(), left, other;

	left = time_to_stand(tracer, &part, now - cost->looked);
	other = task->stops.stopped_ns - cost->stopped_ns + stops * price->mean;
	cost->looked = now;
	cost->stopped_ns = task->stops.stopped_ns;
	return left > other ? (left - other) / stops : 0;
}

void cost_look(struct tracer *tracer, struct task *task)
{
	uint64_t stops = task->cost.stops - task->cost.scheduled;
	uint64_t ran = task->cost.ran_ns, waits, room;

	if (!stops)
		return;
	task->cost.scheduled = task->cost.stops;
	waits = waits_of(task, stops) + own_waits(tracer);
	room = room_for_waits(tracer, task, stops, ran);
	price_note_waits(&tracer->price, waits < room ? waits : room);
	task->cost.still_ns += stops * tracer->price.now.waits;
}

static void add(struct cost *cost, const struct thread_cost *thread)
{
	cost->stops += thread->stops;
	if (!thread->still_ns)
		return;
	if (!insert(cost->threads, &cost->thread_count, COST_THREADS, thread))
		cost->more = true;
}

void cost_find(struct tracer *tracer, pid_t pid, uint64_t now, struct cost *ret)
{
	struct task *task, *next;
	unsigned i;

	*ret = (struct cost){ .price = tracer->price.now };
	for (i = 0; i < tracer->ended.count; i++)
		if (!pid || tracer->ended.threads[i].pid == pid)
			add(ret, &tracer->ended.threads[i]);
	HASH_ITER(hh, tracer->tasks, task, next) {
		struct thread_cost cost;

		if (!task->tracee || (pid && task->tracee->pid != pid))
			continue;
		if (task->cost.stops - task->cost.scheduled >= COST_WINDOW / 8)
			cost_look(tracer, task);
		cost = cost_of(tracer, task, now);
		add(ret, &cost);
	}
	for (i = 0; i < ret->thread_count; i++)
		if (!ret->threads[i].name[0])
			procfs_comm(ret->threads[i].tid, ret->threads[i].name);
}

void cost_keep(struct tracer *tracer, struct task *task)
{
	struct cost_record *ended = &tracer->ended;
	struct thread_cost cost;

	if (!task->tracee || !task->cost.stops)
		return;
	cost_look(tracer, task);
	cost = cost_of(tracer, task, clock_now());
	procfs_comm(task->tid, cost.name);
	(void)insert(ended->threads, &ended->count, ARRAY_SIZE(ended->threads),
		     &cost);
}

void cost_begin_anew(struct tracer *tracer, struct task *leader)
{
	struct cost_record *ended = &tracer->ended;
	unsigned kept = 0;

	for (unsigned i = 0; i < ended->count; i++)
		if (ended->threads[i].pid != leader->tracee->pid)
			ended->threads[kept++] = ended->threads[i];
	ended->count = kept;
	cost_begin(leader);
}

double cost_share(const struct thread_cost *cost)
{
	return cost->seen_ns ? (double)cost->still_ns / cost->seen_ns : 0;
}
