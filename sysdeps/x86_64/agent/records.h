/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_RECORDS_H
#define CALLTRAP_AGENT_RECORDS_H

#include "sysdeps/x86_64/agent/agent.h"

void record(const struct config *config, struct agent_thread *thread,
	    const struct agent_frame *frame, uint64_t ended) HIDDEN;

#endif
