/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/moment.h"

#include "probe/private.h"
#include "sysdeps/linux/ptrace.h"

static int read_fp_regs(const struct moment *moment, struct fp_regs *ret)
{
	return ptrace_get_fp_regs(moment->tid, ret);
}

static const struct moment_ops stop_ops = {
	.fp_regs = read_fp_regs,
	.is_one_mapping = mapping_is_one,
};

int moment_return_address(const struct moment *moment, uint64_t *ret)
{
	const struct arch_ops *arch = moment->arch;
	int err = arch->return_address(moment->regs, moment->memory, ret);

	if (!err)
		*ret = space_true_return(engine_space(moment->space),
					 arch->return_slot(moment->regs), *ret);
	return err;
}

struct moment moment_of_stop(struct task *task)
{
	struct space *space = task->tracee->space;
	struct probe_space *own = probe_space_of(space);

	return (struct moment){
		.space = own,
		.pid = task->tracee->pid,
		.tid = task->tid,
		.arch = space->arch,
		.regs = &task->regs,
		.memory = &space->memory.memory,
		.time = task->stop_time,
		.stops = task->stops,
		.calls = task_calls_of(task),
		.engine = &own->prober->traps,
		.muted = task->tracee->muted || own->closed,
		.price = &space->tracer->price.now,
		.ops = &stop_ops,
	};
}
