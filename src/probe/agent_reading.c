/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"

/* What records and watched calls have in common: whose they are. */

bool agent_reading_begin(struct agent_space *space, struct agent_reading *ret)
{
	struct agent_point *point;

	if (!space->agent.shared.memory)
		return false;
	*ret = (struct agent_reading){ .space = space };
	for (point = space->points; point; point = point->next)
		if (point->stub >= 0 && point->stub < AGENT_STUBS)
			ret->points[point->stub] = point;
	return true;
}

bool agent_reading_is_past(const struct agent_reading *reading, uint64_t time)
{
	struct agent_engine *engine = reading->space->engine;

	if (time > engine->latest)
		engine->latest = ticks_now();
	return time <= engine->latest;
}

/*
 * It may be in a handler of signals that runs above the wait, or may have left
 * that by a jump: a call that waits would begin its time anew.
 */
static bool is_in_system_call(pid_t tid)
{
	taddr_t ip;
	long number;

	return procfs_blocked_in_syscall(tid, &number, &ip);
}

/* Those of a space that have been asked, at one look. */
struct asking {
	struct space *space;
	size_t held;
};

/* One that has been asked before isn't asked again until it has gone on. */
static void hold(void *context, pid_t tid)
{
	struct asking *asking = context;
	struct space *space = asking->space;
	struct task *task = task_find(space->tracer, tid);

	if (task && task->tracee && task->tracee->space == space &&
	    !task->stopped && !task->asked && !task->in_vfork &&
	    !space->tracer->leaving && !is_in_system_call(tid))
		asking->held += task_ask_to_stop(task);
}

size_t agent_hold_waiting(struct agent_engine *engine)
{
	struct asking asking = { .held = 0 };
	struct agent_space *space;

	for (space = engine->holds ? engine->spaces : NULL; space;
	     space = space->next) {
		asking.space = space->space->space;
		if (space->agent.state == AGENT_INSIDE &&
		    space->agent.shared.memory)
			shared_visit_waiting(&space->agent.shared, hold,
					     &asking);
	}
	return asking.held;
}

static void count_waiting(void *context, pid_t tid UNUSED)
{
	long *waiting = context;

	++*waiting;
}

/* One that waits where nobody else would have its processor goes on the sooner. */
size_t agent_hold_crowd(struct agent_engine *engine)
{
	const struct agent_space *space;
	long waiting = 0;

	if (!engine->holds)
		return 0;
	for (space = engine->spaces; space; space = space->next)
		if (space->agent.shared.memory)
			shared_visit_waiting(&space->agent.shared,
					     count_waiting, &waiting);
	return waiting > 1 && waiting >= sysconf(_SC_NPROCESSORS_ONLN) ?
		       agent_hold_waiting(engine) :
		       0;
}
