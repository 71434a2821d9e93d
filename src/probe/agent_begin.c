/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/agent_private.h"

#include <signal.h>

#include "base/clock.h"
#include "base/diag.h"
#include "sysdeps/linux/procfs.h"

/*
 * Where a process was attached to, the agent gets in before the first trap stands:
 * whoever runs into one is killed by it when calltrap is, unless somebody handles
 * that in the process.
 */

/*
 * How long it is tried: while nobody runs; while threads do; where some of these were
 * asked in vain, as they sleep mostly, or stand on small stacks; once one is on its way.
 */
#define TRY_SLEEPERS (NS_PER_SECOND / 20)
#define TRY_RUNNERS  (NS_PER_SECOND / 5)
#define TRY_UNFIT    (NS_PER_SECOND / 10)
#define TRY_WALKERS  (NS_PER_SECOND / 2)

/* So many are asked in vain. */
#define MOST_UNFIT 32

/* From one thread that is asked to the next. */
#define ASK_EVERY (NS_PER_SECOND / 1000)

/* Threads that are looked at for one that runs, each time. */
#define LOOKS 32

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

/*
 * Who blocks SIGTRAP takes the handler away at the first trap; the kernel unblocks it
 * there. So traps come first, and the handler when that is over.
 */
static bool any_blocks_traps(const struct tracee *tracee)
{
	const struct task *task = tracee->tasks;
	struct procfs_status status;
	size_t i;

	for (i = 0; task && i < LOOKS; i++, task = task->next)
		if (runs(task) && !procfs_status(task->tid, &status) &&
		    status.signals_blocked & 1ull << (SIGTRAP - 1))
			return true;
	return false;
}

static bool is_wanted(const struct agent_space *own)
{
	const struct tracee *tracee = tracee_of(own);

	return own->points && tracee && tracee->tasks && !tracee->muted &&
	       !own->space->is_go && !own->space->space->tracer->system_calls &&
	       own->agent.state == AGENT_OUTSIDE && !any_blocks_traps(tracee) &&
	       !agent_why_no_entry(&own->agent, tracee->tasks);
}

/* The next after the one that was looked at last, whatever has become of that. */
static struct task *find_runner(struct agent_beginning *beginning,
				const struct tracee *tracee)
{
	struct task *task = tracee->tasks;
	size_t i;

	for (i = 0; i < beginning->place && task; i++)
		task = task->next;
	for (i = 0; i < LOOKS; i++) {
		if (!task) {
			beginning->place = 0;
			return NULL;
		}
		beginning->place++;
		if (runs(task))
			return task;
		task = task->next;
	}
	return NULL;
}

static void ask_runner(struct agent_space *own, uint64_t now)
{
	struct agent_beginning *beginning = &own->beginning;
	const struct tracee *tracee = tracee_of(own);
	struct task *task;

	if (!tracee || now < beginning->asked + ASK_EVERY)
		return;
	task = find_runner(beginning, tracee);
	if (!task)
		return;
	beginning->asked = now;
	beginning->runs = true;
	(void)task_ask_to_stop(task);
}

static uint64_t patience(const struct agent_space *own)
{
	if (agent_is_on_the_way(&own->agent))
		return TRY_WALKERS;
	if (own->beginning.unfit)
		return own->beginning.unfit < MOST_UNFIT ? TRY_UNFIT : 0;
	return own->beginning.runs ? TRY_RUNNERS : TRY_SLEEPERS;
}

/* Whether it is in, or will get in by a trap, or not at all. */
static bool is_over(const struct agent_space *own, uint64_t now)
{
	const enum agent_state state = own->agent.state;

	if (state == AGENT_INSIDE || state == AGENT_REFUSED ||
	    state == AGENT_CLOSING)
		return true;
	if (now < own->beginning.since + patience(own))
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
		agent_find_space(engine, probe_space_of(space));
	struct agent_beginning *beginning = own ? &own->beginning : NULL;

	if (!own)
		return false;
	if (!beginning->since) {
		beginning->since = now;
		beginning->over = !is_wanted(own);
	}
	if (!beginning->over)
		beginning->over = is_over(own, now);
	/* The traps are planted now, and slots can be looked for. */
	if (beginning->over && own->agent.state == AGENT_INSIDE)
		source->due = now;
	if (!beginning->over && own->agent.state == AGENT_OUTSIDE)
		ask_runner(own, now);
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

	if (!own || !own->beginning.since || own->beginning.over)
		return false;
	own->pid = task->tracee->pid;
	if (agent_send(&own->agent, task))
		return true;
	own->beginning.unfit++;
	return false;
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
