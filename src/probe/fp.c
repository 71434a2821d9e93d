/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"
#include "sysdeps/linux/ptrace.h"

/*
 * Floating-point registers are one more system call and 512 bytes: only those
 * prototypes get them that have something there.
 */

void fp_enter(struct activation *activation, const struct task *task)
{
	struct call *call = &activation->call;

	if (!prototype_needs_fp_arguments(call->function->prototype,
					  call->arch, &call->entry))
		return;
	activation->fp = xmalloc(sizeof(*activation->fp));
	if (!ptrace_get_fp_regs(task->tid, activation->fp))
		call->entry_fp = activation->fp;
}

const struct fp_regs *fp_return(const struct activation *activation,
				const struct task *task, struct fp_regs *space)
{
	const struct call *call = &activation->call;

	if (!prototype_needs_fp_result(call->function->prototype, call->arch) ||
	    ptrace_get_fp_regs(task->tid, space))
		return NULL;
	return space;
}
