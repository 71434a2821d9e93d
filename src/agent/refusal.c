/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sysdeps/linux/dispatch.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/charge.h"

/*
 * What is mapped stays mapped: a program that counts its address space may miss
 * it later. A file beyond RLIMIT_FSIZE kills who makes it (SIGXFSZ).
 */
static const char *why_no_memory(const struct task *task)
{
	const pid_t pid = task->tracee->pid;
	struct procfs_limits limits;

	if (!charge_has_room_for(pid, AGENT_SHARED_OFFSET, shared_least()))
		return "little memory is left in its cgroup, or ours";
	if (procfs_limits(task->tid, &limits))
		return "its limits can't be read";
	if (limits.file_size < shared_size())
		return "the size of its files is limited (ulimit -f)";
	if (limits.address_space != UINT64_MAX)
		return "its address space is limited (ulimit -v)";
	return NULL;
}

/* Modes in which they may wait for us on the spot. */
#define WITH_WAITS (AGENT_WAITS | AGENT_WATCHES | AGENT_STACKS)

/* Its threads leave no processor to others, as long as they don't sleep. */
static bool has_real_time(const struct tracee *tracee)
{
	const struct task *task;

	for (task = tracee->tasks; task; task = task->next) {
		int policy = sched_getscheduler(task->tid);

		if (policy >= 0)
			policy &= ~SCHED_RESET_ON_FORK;
		if (policy == SCHED_FIFO || policy == SCHED_RR ||
		    policy == SCHED_DEADLINE)
			return true;
	}
	return false;
}

const char *agent_why_not_run(const struct agent *agent,
			      const struct task *task)
{
	struct procfs_status status;

	if (task->tracee->space->arch != &arch_x86_64)
		return "it isn't a program of 64 bits";
	if (procfs_status(task->tid, &status))
		return "its status can't be read";
	if (status.seccomp)
		return "seccomp";
	if (dispatch_is_on(task->tid))
		return "its system calls are dispatched (prctl)";
	if (status.shadow_stack)
		return "it has shadow stacks";
	if (agent->mode & AGENT_WITH_RINGS && status.own_pid != task->tid)
		return "a namespace of process numbers";
	if (agent->mode & WITH_WAITS && has_real_time(task->tracee))
		return "its threads have real-time priorities";
	return status.locked > AGENT_LOCKED_MOST ? AGENT_LOCKED : NULL;
}

const char *agent_why_not_by_status(const struct agent *agent,
				    const struct task *task)
{
	return task->tracee->borrows ? "it shares its memory with its parent" :
				       agent_why_not_run(agent, task);
}

const char *agent_why_no_entry(const struct agent *agent,
			       const struct task *task)
{
	const char *reason = agent_why_not_by_status(agent, task);

	return reason ? reason : why_no_memory(task);
}

/*
 * What calltrap has started ends with it, and a child has its parent's handler. Anybody
 * else dies at a trap that is hit when calltrap is killed.
 */
static bool may_go_by_traps(const struct agent *agent, const struct task *task)
{
	return task->tracee->started || agent->space->awaited;
}

bool agent_is_due(struct agent *agent, const struct task *task)
{
	const uint64_t least =
		may_go_by_traps(agent, task) ? agent->least_hits : 1;

	agent->hits++;
	if (agent->hits < least || agent->hits < agent->due)
		return false;
	agent->due = agent->hits + 1 + clock_now() % agent->hits;
	return true;
}
