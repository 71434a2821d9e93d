/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/private.h"

void outcome_judge(const struct moment *moment, struct event *event)
{
	const struct call *call = event->call;
	const struct prototype *prototype = call->function->prototype;
	struct call_values values = {
		.arch = call->arch,
		.entry_regs = &call->entry,
		.result_regs = event->regs,
		.entry_fp = call->entry_fp,
		.result_fp = event->fp,
		.memory = call->memory,
	};

	if (!prototype || !prototype_has_failed(prototype, &values))
		return;
	event->failed = true;
	event->error = prototype_error(prototype, &values);
	/* errno costs something: only where it may be asked for. */
	if (event->error)
		return;
	values.error = errno_read(moment);
	event->error = prototype_error(prototype, &values);
}
