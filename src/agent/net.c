/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <signal.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/signal_bit.h"
#include "sysdeps/linux/procfs.h"

/* A thread that blocks the signal may come at any time: ever more seldom. */
#define LOOK_EVERY     NS_PER_SECOND
#define MOST_DOUBLINGS 6

/* Who ignores it goes on doing so; what the program has set itself stays. */
static bool has_none(const struct tracee *tracee)
{
	const struct task *task;
	struct procfs_status status;

	/* A leader may have ended. */
	for_each_task_of(tracee, task)
		if (!procfs_status(task->tid, &status) && status.has_memory)
			return !((status.signals_caught |
				  status.signals_ignored) &
				 SIGNAL_BIT(SIGTRAP));
	return false;
}

/*
 * Who shares the memory has handlers of its own (clone(2), CLONE_SIGHAND). In turn:
 * one that never comes to a trap doesn't keep others waiting. Or 0.
 */
static pid_t who_has_none(const struct agent *agent)
{
	const struct tracer *tracer = agent->space->tracer;
	const struct tracee *tracee;
	pid_t first = 0, next = 0;

	for (tracee = tracer->tracees; tracee; tracee = tracee->hh.next) {
		const pid_t pid = tracee->pid;
		pid_t *const least = pid > agent->net_lost ? &next : &first;

		if (tracee->space == agent->space && has_none(tracee) &&
		    (!*least || pid < *least))
			*least = pid;
	}
	return next ? next : first;
}

static uint64_t pause_of(const struct agent *agent)
{
	const unsigned tries = agent->net_tries;

	return LOOK_EVERY << (tries < MOST_DOUBLINGS ? tries : MOST_DOUBLINGS);
}

/* Whoever was sent, and isn't back by now, has set it or is in a handler. */
void agent_look_at_net(struct agent *agent, uint64_t now)
{
	if (agent->state != AGENT_INSIDE || now < agent->net_look_at)
		return;
	agent->net_look_at = now + pause_of(agent);
	agent->net_pending = false;
	agent->net_lost = who_has_none(agent);
	agent->net_wanted = agent->net_lost != 0;
}

bool agent_mend_net(struct agent *agent, struct task *task)
{
	if (agent->net_pending && agent_is_back(agent, task))
		agent->net_pending = false;
	if (!agent->net_wanted || agent->page_pending ||
	    task->tracee->pid != agent->net_lost)
		return false;
	/* It is looked again before another one is asked. */
	agent->net_wanted = false;
	if (agent_why_not_run(agent, task))
		return false;
	agent->net_tries++;
	agent_remember_way(agent, task);
	agent->net_pending = agent_set_boot(agent, task, AGENT_BOOT_NET);
	diag_debug(DIAG_TRAP, "agent: thread %d sets the handler again",
		   (int)task->tid);
	return agent->net_pending;
}
