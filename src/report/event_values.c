/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/event_values.h"

struct call_values event_values(const struct event *event)
{
	return (struct call_values){
		.arch = event->call->arch,
		.entry_regs = &event->call->entry,
		.result_regs = event->kind == EVENT_RETURN ? event->regs :
							     NULL,
		.entry_fp = event->call->entry_fp,
		.result_fp = event->kind == EVENT_RETURN ? event->fp : NULL,
		.system_call = event->call->function->place ==
			       FUNCTION_SYSTEM_CALL,
		.error = event->kind == EVENT_RETURN ? event->error : 0,
		.memory = event->call->memory,
	};
}
