/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"
#include "sysdeps/linux/clone.h"

/*
 * fork() returns twice, and so do all calls that it was made in: a child that
 * begins on its parent's stack has a copy of it, or (vfork) the stack itself.
 */

static bool is_on_same_stack(struct task *parent)
{
	const struct regs *regs = task_regs(parent);
	struct clone_sharing sharing;

	return regs &&
	       clone_sharing_of(regs, &parent->tracee->space->memory.memory,
				&sharing) &&
	       sharing.stack;
}

void fork_begin(struct task *parent, struct tracee *child)
{
	struct probe_space *space = probe_space_of(child->space);
	struct activation *activation = task_calls_of(parent)->stack.top;
	struct moment moment;

	if (!activation || !child->tasks || !is_on_same_stack(parent))
		return;
	moment = moment_of_stop(child->tasks);
	while (activation->outer)
		activation = activation->outer;
	for (; activation; activation = activation->inner)
		if (activation->kind == ACTIVATION_CALL)
			pairing_inherit(&moment, activation);
	if (child->borrows)
		pairing_watch_inherited(space);
}
