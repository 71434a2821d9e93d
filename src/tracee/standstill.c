/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/standstill.h"

#include "base/clock.h"
#include "sysdeps/linux/freezer.h"
#include "tracee/tracer.h"

/* So many threads stand for the others: this must not take long. */
#define THREADS_MAX 64

void standstill_note_listening(struct task *task)
{
	struct task_standstill *own = &task->standstill;

	if (task->listening && !own->listens_since) {
		own->listens_since = clock_now();
	} else if (!task->listening && own->listens_since) {
		own->listened_ns += clock_now() - own->listens_since;
		own->listens_since = 0;
	}
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t newly_listened(struct task_standstill *own, uint64_t now)
{
	uint64_t all = own->listened_ns;
	uint64_t before = own->looked_listened_ns;

	if (own->listens_since)
		all += grown(now, own->listens_since);
	own->looked_listened_ns = all;
	return grown(all, before);
}

/* What threads wanted to do, and how much of it they couldn't. */
struct wants {
	double wanted, held;
};

/* Who wanted more counts for more; who slept doesn't count at all, nor who was
   not looked at the last time. */
static void add_task(struct wants *wants, struct task *task, uint64_t length,
		     uint64_t now)
{
	struct task_standstill *own = &task->standstill;
	struct procfs_schedule before = own->schedule;
	double waited = newly_listened(own, now), wanted;
	bool known = own->look + 1 == task->tracee->standstill.looks;

	own->look = task->tracee->standstill.looks;
	(void)procfs_schedule(task->tid, &own->schedule);
	if (!known)
		return;
	waited += grown(own->schedule.waited_ns, before.waited_ns);
	if (waited > length)
		waited = length;
	wanted = waited + grown(own->schedule.ran_ns, before.ran_ns);
	wants->wanted += wanted;
	wants->held += wanted * waited / length;
}

/* While it stands at a trap it waits for us. */
static uint64_t own_waits(struct standstill *still, uint64_t stops)
{
	struct procfs_schedule own;
	uint64_t before = still->own_waits_ns;
	bool stopped = stops > still->stops;

	if (!procfs_schedule(0, &own))
		return 0;
	still->own_waits_ns = own.waited_ns;
	still->stops = stops;
	return stopped ? grown(own.waited_ns, before) : 0;
}

static void add_tasks(struct wants *wants, struct tracee *tracee,
		      uint64_t length, uint64_t now)
{
	unsigned count = 0;
	struct task *task;

	tracee->standstill.looks++;
	for_each_task_of(tracee, task)
		if (count++ < THREADS_MAX)
			add_task(wants, task, length, now);
}

static void begin(struct tracee *tracee, uint64_t now)
{
	struct standstill *still = &tracee->standstill;

	add_tasks(&(struct wants){ 0 }, tracee, 1, now);
	(void)own_waits(still, tracee->stops);
	still->until = now;
}

static void book(struct standstill *still, uint64_t held, uint64_t now)
{
	uint64_t length = now - still->until;

	still->ns += held < length ? held : length;
	still->until = now;
}

/* The kernel counts a wait when it is over: as long as nothing has happened, it
   may be one. */
const struct standstill *standstill_look(struct tracee *tracee, uint64_t now)
{
	struct standstill *still = &tracee->standstill;
	uint64_t length = grown(now, still->until);
	struct wants wants = { 0 };

	if (!still->until) {
		begin(tracee, now);
		return still;
	}
	if (!length)
		return still;
	add_tasks(&wants, tracee, length, now);
	if (wants.wanted > 0)
		book(still,
		     length * wants.held / wants.wanted +
			     own_waits(still, tracee->stops),
		     now);
	else if (freezer_has_frozen("", tracee->pid))
		book(still, length, now);
	return still;
}
