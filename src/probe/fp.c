/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"

/*
 * Floating-point registers are one more system call and 512 bytes: only those
 * prototypes get them that have something there.
 */

void fp_enter(struct activation *activation, const struct moment *moment)
{
	struct call *call = &activation->call;

	if (!prototype_needs_fp_arguments(call->function->prototype, call->arch,
					  &call->entry))
		return;
	activation->fp = xmalloc(sizeof(*activation->fp));
	if (!moment->ops->fp_regs(moment, activation->fp))
		call->entry_fp = activation->fp;
}

const struct fp_regs *fp_return(const struct activation *activation,
				const struct moment *moment,
				struct fp_regs *space)
{
	const struct call *call = &activation->call;

	if (!prototype_needs_fp_result(call->function->prototype, call->arch) ||
	    moment->ops->fp_regs(moment, space))
		return NULL;
	return space;
}
