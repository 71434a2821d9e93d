/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/signal_bit.h"
#include "sysdeps/linux/procfs.h"

/*
 * Where a process was attached to, the agent gets in before the first trap stands:
 * whoever runs into one is killed by it when calltrap is, unless somebody handles
 * that in the process.
 */

/* How long it is tried: while nobody can be had; while somebody may; once one is on its
   way. */
#define TRY_SLEEPERS (NS_PER_SECOND / 20)
#define TRY_RUNNERS  (NS_PER_SECOND / 5)
#define TRY_WALKERS  (NS_PER_SECOND / 2)

/* While they wait for a processor, that is how much of one they get; or this long. */
#define TRY_QUEUED (2 * NS_PER_SECOND)

/* So many threads are interrupted, at most. */
#define MOST_ASKED 3

#define LOOK_EVERY (NS_PER_SECOND / 200)

/* What lies between two looks counts for so much at most: else we had no processor. */
#define MOST_COUNTED (2 * LOOK_EVERY)

/* Threads that are looked at for one that runs, each time. */
#define LOOKS AGENT_RUNNERS

/* One that has run for so many ticks is known by what it has done so far. */
#define KNOWN_TICKS 4

/* Of such a thread's time its program's is so many times the kernel's, at least. */
#define SELDOM 20

static struct tracee *tracee_of(const struct agent_space *own)
{
	struct space *space = own->space->space;
	struct tracee *tracee, *next;

	HASH_ITER(hh, space->tracer->tracees, tracee, next)
		if (tracee->space == space && !tracee->borrows)
			return tracee;
	return NULL;
}

/* A sleeper would have to be woken, or its system call be ended. */
static bool runs(const struct task *task)
{
	taddr_t ip;
	long number;

	return !task->stopped && !task->asked && !task->in_vfork &&
	       !task->newborn &&
	       procfs_place(task->tid, &number, &ip) == PROCFS_ANYWHERE;
}

bool agent_blocks_traps(const struct task *task)
{
	struct procfs_status status;

	return !procfs_status(task->tid, &status) &&
	       status.signals_blocked & SIGNAL_BIT(SIGTRAP);
}

/* The C library blocks all signals for a thread that begins. */
static bool is_new(const struct task *task)
{
	struct procfs_times times;

	return procfs_times(task->tid, &times) && !times.user && !times.system;
}

/*
 * Who blocks SIGTRAP takes the handler away at the first trap; the kernel unblocks it
 * there. So traps come first, and the handler when that is over. Those that have only
 * begun are waited for.
 */
static bool any_blocks_traps(const struct tracee *tracee, bool *new_ret)
{
	const struct task *task = tracee->tasks;
	size_t i;

	*new_ret = false;
	for (i = 0; task && i < LOOKS; i++, task = task->next) {
		if (!runs(task) || !agent_blocks_traps(task))
			continue;
		if (!is_new(task))
			return true;
		*new_ret = true;
	}
	return false;
}

/* One that can be asked about its process: any may have ended a moment ago. */
static const struct task *living_task(const struct tracee *tracee)
{
	const struct task *task;
	struct procfs_status status;

	for_each_task_of(tracee, task)
		if (!procfs_status(task->tid, &status) && status.has_memory)
			return task;
	return NULL;
}

static bool is_wanted(const struct agent_space *own)
{
	const struct tracee *tracee = tracee_of(own);
	const struct task *task = tracee ? living_task(tracee) : NULL;

	return own->space->space->deferred && task && !tracee->muted &&
	       !own->space->is_go && !own->space->space->tracer->system_calls &&
	       own->agent.state == AGENT_OUTSIDE &&
	       !agent_why_no_entry(&own->agent, task);
}

static void begin(struct agent_space *own, uint64_t now)
{
	struct agent_beginning *beginning = &own->beginning;
	const bool wanted = is_wanted(own);
	bool any_new;

	beginning->since = beginning->met = now;
	own->agent.net_alone = wanted && !own->points;
	/* For the handler alone nobody is to wait: who looks for 50 ms would see no call. */
	beginning->over = !wanted || !own->points ||
			  any_blocks_traps(tracee_of(own), &any_new);
}

static struct agent_runner *find_runner(struct agent_beginning *beginning,
					pid_t tid)
{
	size_t i;

	for (i = 0; i < beginning->runner_count; i++)
		if (beginning->runners[i].tid == tid)
			return &beginning->runners[i];
	return NULL;
}

static bool are_seldom(const struct procfs_times *times)
{
	return times->user >= KNOWN_TICKS &&
	       times->system * SELDOM <= times->user;
}

static bool look_at_usage(const struct task *task, struct agent_runner *ret)
{
	struct procfs_status status;

	ret->tid = task->tid;
	if (!procfs_times(task->tid, &ret->last) ||
	    procfs_status(task->tid, &status))
		return false;
	ret->waits = status.waits;
	ret->stops = task->stops.count;
	/* Later its stops may be a large part of it. */
	ret->seldom |= are_seldom(&ret->last);
	return true;
}

static struct procfs_times sum_of(const struct agent_beginning *beginning)
{
	struct procfs_times sum = { 0 };
	size_t i;

	for (i = 0; i < beginning->runner_count; i++) {
		sum.user += beginning->runners[i].last.user;
		sum.system += beginning->runners[i].last.system;
	}
	return sum;
}

/*
 * Threads that have only begun are known by all of them. And who waits for locks alone,
 * as those that allocate all the time do, may be in the kernel for 2 of 5 ticks: that
 * call is made again, and others that end early are such as sleep, mostly.
 */
static bool calls_seldom(const struct agent_beginning *beginning,
			 const struct agent_runner *runner)
{
	const struct procfs_times sum = sum_of(beginning);

	if (runner->seldom || are_seldom(&sum))
		return true;
	return beginning->locks && sum.user >= KNOWN_TICKS &&
	       sum.system * 3 <= sum.user * 2 &&
	       runner->last.system <= runner->last.user;
}

/*
 * Whether it has run since it was looked at first, and in its program alone. In a system
 * call it runs as well, and has to leave that when it is interrupted: what was written
 * or read by then is all that the program gets, and it may not look at how much that is.
 * Nor has it stopped: signals that come all the time would come on its way, too, and a
 * handler may leave by a jump.
 */
static bool stays_outside(struct agent_beginning *beginning,
			  struct agent_runner *runner, const struct task *task)
{
	const struct agent_runner before = *runner;
	bool seldom, has_called, has_stopped;

	runner->unfit = !look_at_usage(task, runner);
	if (runner->unfit)
		return false;
	seldom = calls_seldom(beginning, runner);
	has_stopped = runner->stops != before.stops;
	has_called = runner->last.system != before.times.system ||
		     runner->waits != before.waits;
	if (!has_called && runner->last.user == before.last.user)
		beginning->queued = beginning->passed;
	if (seldom || !has_called)
		beginning->hope = beginning->passed;
	if (has_stopped || (has_called && !(seldom && beginning->locks))) {
		runner->times = runner->last;
		return false;
	}
	runner->waits = before.waits;
	return runner->last.user - before.times.user >=
	       (seldom ? 1 : KNOWN_TICKS);
}

static void add_runner(struct agent_beginning *beginning,
		       const struct task *task)
{
	struct agent_runner *runner =
		&beginning->runners[beginning->runner_count];

	if (beginning->runner_count == AGENT_RUNNERS)
		return;
	*runner = (struct agent_runner){ 0 };
	if (!look_at_usage(task, runner))
		return;
	runner->first = runner->times = runner->last;
	beginning->runner_count++;
}

static void note_sleep(struct agent_beginning *beginning,
		       struct agent_runner *runner, const struct task *task)
{
	taddr_t ip;
	long number;

	if (!procfs_blocked_in_syscall(task->tid, &number, &ip))
		return;
	if (number == SYS_futex)
		beginning->locks = true;
	else if (runner)
		runner->sleeps = true;
}

/* Returns whether it was asked to stop. */
static bool look_at(struct agent_beginning *beginning, struct task *task)
{
	struct agent_runner *runner = find_runner(beginning, task->tid);

	if (runner && (task->asked || task->stopped))
		beginning->hope = beginning->passed;
	if (runner && task->asked)
		beginning->queued = beginning->passed;
	if (runner && runner->unfit)
		return false;
	if (!runs(task)) {
		note_sleep(beginning, runner, task);
		return false;
	}
	if (!runner) {
		add_runner(beginning, task);
		return false;
	}
	if (!stays_outside(beginning, runner, task) || runner->sleeps ||
	    beginning->any_new || beginning->asked == MOST_ASKED)
		return false;
	beginning->asked++;
	(void)task_ask_to_stop(task);
	return true;
}

/* From the next after the one that was looked at last, whatever has become of that. */
static void look_for_runner(struct agent_space *own, uint64_t now)
{
	struct agent_beginning *beginning = &own->beginning;
	const struct tracee *tracee = tracee_of(own);
	struct task *task = tracee ? tracee->tasks : NULL;
	size_t i;

	if (!beginning->place && now < beginning->looked + LOOK_EVERY)
		return;
	beginning->looked = now;
	if (!beginning->place && task)
		beginning->blocked =
			any_blocks_traps(tracee, &beginning->any_new);
	if (beginning->blocked)
		return;
	for (i = 0; i < beginning->place && task; i++)
		task = task->next;
	for (i = 0; i < LOOKS && task; i++) {
		beginning->place++;
		task = look_at(beginning, task) ? NULL : task->next;
	}
	if (!task)
		beginning->place = 0;
}

/* Of processors, since they were seen first. */
static uint64_t time_of(const struct agent_beginning *beginning)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < beginning->runner_count; i++) {
		const struct agent_runner *runner = &beginning->runners[i];

		ticks += runner->last.user - runner->first.user +
			 runner->last.system - runner->first.system;
	}
	return ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * Nothing is known of who gets no processor, and little of what it does is missed
 * meanwhile.
 */
static bool are_queued(const struct agent_beginning *beginning,
		       uint64_t patience)
{
	return beginning->passed < beginning->queued + TRY_SLEEPERS &&
	       time_of(beginning) < patience;
}

static bool has_patience(const struct agent_space *own, uint64_t now)
{
	const struct agent_beginning *beginning = &own->beginning;

	if (now >= beginning->since + TRY_QUEUED)
		return false;
	if (agent_is_on_the_way(&own->agent))
		return beginning->passed < TRY_WALKERS;
	if (beginning->refused == MOST_ASKED || beginning->blocked)
		return false;
	return (beginning->passed < TRY_RUNNERS ||
		are_queued(beginning, TRY_RUNNERS)) &&
	       (beginning->passed < beginning->hope + TRY_SLEEPERS ||
		are_queued(beginning, TRY_SLEEPERS));
}

static void count_time(struct agent_beginning *beginning, uint64_t now)
{
	const uint64_t since = now - beginning->met;

	beginning->met = now;
	beginning->passed += since < MOST_COUNTED ? since : MOST_COUNTED;
}

/* Whether it is in, or will get in by a trap, or not at all. */
static bool is_over(const struct agent_space *own, uint64_t now)
{
	const enum agent_state state = own->agent.state;

	if (state == AGENT_INSIDE || state == AGENT_REFUSED ||
	    state == AGENT_CLOSING)
		return true;
	if (has_patience(own, now))
		return false;
	diag_debug(DIAG_TRAP,
		   "agent: no thread of process %d can be had, traps come first",
		   (int)own->space->space->memory.pid);
	return true;
}

bool agent_keeps_traps_out(struct event_source *source, struct space *space,
			   uint64_t now)
{
	struct agent_engine *engine = agent_engine_of_source(source);
	struct agent_space *own =
		agent_get_space(engine, probe_space_of(space));
	struct agent_beginning *beginning = &own->beginning;

	if (!beginning->since)
		begin(own, now);
	count_time(beginning, now);
	if (!beginning->over)
		beginning->over = is_over(own, now);
	space->untended = own->agent.net_alone;
	/* The traps are planted now, and slots can be looked for. */
	if (beginning->over && own->agent.state == AGENT_INSIDE)
		agent_look_soon(engine);
	if (!beginning->over && own->agent.state == AGENT_OUTSIDE)
		look_for_runner(own, now);
	return !beginning->over;
}

static struct agent_space *space_of(struct event_source *source,
				    const struct task *task)
{
	return task->tracee && !task->tracee->borrows ?
		       agent_find_space(agent_engine_of_source(source),
					probe_space_of(task->tracee->space)) :
		       NULL;
}

bool agent_task_stands(struct event_source *source, struct task *task)
{
	struct agent_space *own = space_of(source, task);
	struct agent_runner *runner;
	enum agent_sent sent;

	if (!own || !own->beginning.since || own->beginning.over)
		return false;
	own->pid = task->tracee->pid;
	sent = agent_send(&own->agent, task);
	if (sent == AGENT_SENT)
		return true;
	own->beginning.refused++;
	diag_debug(DIAG_TRAP, "agent: thread %d can't be sent%s",
		   (int)task->tid, sent == AGENT_NOT_NOW ? " now" : "");
	runner = find_runner(&own->beginning, task->tid);
	if (runner)
		runner->unfit |= sent == AGENT_NOT_THIS;
	return false;
}

bool agent_task_traps(struct event_source *source, struct task *task)
{
	struct agent_space *own = space_of(source, task);

	if (task->tracee->borrows || task->tracee->muted)
		return false;
	if (!own || !own->agent.net_alone ||
	    own->agent.state == AGENT_REFUSED) {
		task->tracee->space->untended = false;
		return false;
	}
	own->pid = task->tracee->pid;
	return agent_send(&own->agent, task) == AGENT_SENT;
}

bool agent_task_calls(struct event_source *source, struct task *task,
		      const struct syscall_stop *stop)
{
	struct agent_space *own = space_of(source, task);
	struct moment moment;

	if (!own || !agent_pass_call(&own->agent, task, stop))
		return false;
	agent_note_way(own);
	if (own->agent.state == AGENT_INSIDE) {
		/* Nobody may ever come by a trap. */
		moment = moment_of_stop(task);
		agent_find_errno(&own->agent, &moment);
	}
	return agent_is_on_the_way(&own->agent) && own->agent.tid;
}
