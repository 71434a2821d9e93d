/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_NOTES_H
#define CALLTRAP_AGENT_NOTES_H

#include "sysdeps/x86_64/agent/agent.h"

/*
 * It began when another calltrap was there, whose stub may have been another
 * function's.
 */
static inline bool is_too_old(const struct config *config,
			      const struct agent_frame *frame)
{
	return (int64_t)(frame->began - config->since) < 0;
}

void note(const struct config *config, const struct agent_frame *frame,
	  uint64_t ended) HIDDEN;

#endif
