/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/event_values.h"

struct call_values event_values(const struct event *event)
{
	const bool returned = event->kind == EVENT_RETURN ||
			      event->kind == EVENT_CHILD_RETURN;

	return (struct call_values){
		.arch = event->call->arch,
		.entry_regs = &event->call->entry,
		.result_regs = returned ? event->regs : NULL,
		.entry_fp = event->call->entry_fp,
		.result_fp = returned ? event->fp : NULL,
		.system_call = event->call->function->place ==
			       FUNCTION_SYSTEM_CALL,
		.error = returned ? event->error : 0,
		.memory = event->call->memory,
	};
}
